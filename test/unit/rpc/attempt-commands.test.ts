import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runConfigSchema } from '../../../core/protocol/run/config.ts';
import type { RunRecord } from '../../../core/protocol/run/record.ts';
import { createRunFolder } from '../../../src-main/store/runs/run-folder.ts';
import { runRecord } from '../store/records.ts';
import { openService } from './page.ts';
import { tinyProject } from './tiny-project.ts';

const times = { startedAt: '2026-01-02T03:04:05.000Z', endedAt: null, status: 'finished' as const };
const ofProject = {
  maxEpochs: 3,
  batchSize: 16,
  logEverySteps: 2,
  devices: 'cpu',
  hyperparameters: { width: 8 },
} as const;
const first = runConfigSchema.parse({ ...ofProject, members: 4 });
const last = runConfigSchema.parse({ ...first, maxEpochs: 9, optimizer: { kind: 'sgd', learningRate: 0.25 } });

async function commandsOf(attempts: RunRecord['attempts'], more: Partial<RunRecord> = {}) {
  const { page, home } = await openService();
  const folder = tinyProject;
  const project = { name: 'Blobs', description: '', folder };
  await createRunFolder(
    join(home, 'home', 'runs', 'run-1'),
    runRecord({ project, attempts, config: last, status: 'finished', ...more }),
  );
  await page.hub.runs({});
  const commands = await page.hub.attemptCommands('run-1');
  return commands.map(({ attempt, command }) => [attempt, command.replace(folder, 'blobs')]);
}

it('each attempt keeps the command that started it, whatever resumes follow', async () => {
  const overrides = { maxEpochs: 9, optimizer: { kind: 'sgd', learningRate: 0.25 } };
  expect(
    await commandsOf([
      { ...times, attempt: 1, kind: 'start', overrides: { members: 4 }, config: first },
      { ...times, attempt: 2, kind: 'restart', config: first },
      { ...times, attempt: 3, kind: 'resume', overrides, config: last },
    ]),
  ).toEqual([
    [1, 'npx tutti train blobs --members 4 --name first'],
    [3, 'npx tutti resume run-1 --set optimizer.kind=sgd --set optimizer.learningRate=0.25 --set maxEpochs=9'],
  ]);
});

it('the first attempt of a fork repeats the fork', async () => {
  const origin = {
    run: 'run-0',
    name: 'earlier',
    folder: '/runs/0',
    attempt: 1,
    kind: 'state' as const,
    point: 'attempt-1/round-8',
    epoch: 4,
    step: 50,
  };
  const overrides = { maxEpochs: 9 };
  expect(
    await commandsOf(
      [
        { ...times, attempt: 1, kind: 'fork', overrides, config: first },
        { ...times, attempt: 2, kind: 'resume', overrides, config: last },
      ],
      { origin },
    ),
  ).toEqual([
    [1, 'npx tutti fork run-0 --at attempt-1/round-8 --set maxEpochs=9 --name first'],
    [2, 'npx tutti resume run-1 --set maxEpochs=9'],
  ]);
});
