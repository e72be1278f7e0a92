import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { basename, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import type { RunConfigInput } from '../../../core/protocol/run/config.ts';
import type { Study } from '../../../core/protocol/studies/study.ts';
import { objectiveFor } from '../../../src-main/studies/create-study.ts';
import { createStudyFolder, listStudyFolders } from '../../../src-main/studies/study-folder.ts';
import { StudyStore } from '../../../src-main/studies/study-store.ts';
import { makeEnsemble } from '../../../src-main/studies/study-ensemble.ts';
import { createStudy, driveStudy } from '../../../src-main/studies/studies.ts';
import { projectFolder, useHub } from '../harness.ts';
import { readMetrics } from '../metric-table.ts';

const { hub, home } = useHub();
const blobs = projectFolder('blobs');
const trials = 4;
const cli = resolve(import.meta.dirname, '../../../src-main/cli.ts');

function goOn(id: string): ChildProcess {
  return spawn(process.execPath, [cli, 'search', '--study', id, '--trust', '--json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

/** Waits until the study has this many trials that have ended, or its process has: it prints a line for each. */
async function untilEnded(process: ChildProcess, count: number): Promise<void> {
  if (process.stdout === null) throw new Error('The command has no output.');
  let ended = 0;
  for await (const line of createInterface({ input: process.stdout })) {
    if (line.startsWith('{"type":"trial"')) ended++;
    if (ended === count) return;
  }
}

it.each([
  { trialsPerWorker: 1, parallel: 2 },
  { trialsPerWorker: 2, parallel: 4 },
])(
  'chooses and scores the same after SIGKILL, and makes an ensemble from its trials: %o',
  async (places) => {
    const project = await hub().describe(blobs);
    const request = {
      projectFolder: blobs,
      name: null,
      trials,
      objectives: [objectiveFor({ metric: 'nll', kind: 'ensemble' }, project)],
      space: {
        'optimizer.learningRate': { kind: 'log', low: 1e-3, high: 0.3 },
        hiddenUnits: { kind: 'int', low: 2, high: 16 },
      },
      sampler: { kind: 'tpe', startupTrials: 2, candidates: 24, multivariate: null, constantLiar: true },
      overrides: { members: 2, maxEpochs: 8, membersPerDevice: 2 },
      ...places,
    } satisfies Parameters<typeof createStudy>[1];
    const undisturbed = await createStudy(hub(), request, project);
    expect(await (await driveStudy(hub(), undisturbed, project)).run()).toBe('finished');

    const twin: Study = { ...undisturbed.study, id: `${undisturbed.study.id}-killed` };
    const killed = await StudyStore.open(await createStudyFolder(twin));
    await killed.append([{ type: 'trials', count: trials }]);
    const first = goOn(twin.id);
    await untilEnded(first, 1);
    first.kill('SIGKILL');
    await once(first, 'exit');
    const second = goOn(twin.id);
    second.stdout?.resume();
    expect(await once(second, 'exit')).toEqual([0, null]);

    await killed.refresh();
    const known = ({ log }: StudyStore) =>
      log.trials.map(({ state, values, objectives }) => ({ state, values, objectives }));
    expect(known(killed)).toEqual(known(undisturbed));
    expect(known(killed)).toHaveLength(trials);
    const folders = (await listStudyFolders()).map((folder) => basename(folder));
    expect(folders).toEqual(expect.arrayContaining([undisturbed.study.id, twin.id]));

    const { record, combined } = await makeEnsemble(hub(), undisturbed, {
      method: 'top-k',
      trials: [0, 1],
      size: 3,
      name: 'best',
    });
    expect(combined.members).toHaveLength(3);
    expect(record.parts?.method).toBe('top-k');
  },
  180_000,
);

it.each<[string, RunConfigInput, string]>([
  ['joint', { strategy: { kind: 'joint' } }, 'product_nll'],
  ['data-parallel', { strategy: { kind: 'data-parallel' } }, 'ens_nll'],
  ['sharded', { strategy: { kind: 'sharded' } }, 'ens_nll'],
  ['hdet', { strategy: { kind: 'hdet', adapt: false } }, 'ens_nll'],
  ['two pipelines', { members: 4, strategy: { kind: 'pipeline', stages: 2 } }, 'ens_nll'],
])(
  'a trial of %s has the score of what answers',
  async (_, config, metric) => {
    const project = await hub().describe(blobs);
    const store = await createStudy(
      hub(),
      {
        projectFolder: blobs,
        name: null,
        trials: 1,
        objectives: [objectiveFor({ metric: 'nll', kind: 'ensemble' }, project)],
        space: { hiddenUnits: { kind: 'int', low: 4, high: 8 } },
        overrides: { members: 2, maxEpochs: 2, ...config },
        evaluation: 'last',
      },
      project,
    );
    expect(await (await driveStudy(hub(), store, project)).run()).toBe('finished');
    const [{ state, objectives, runs }] = store.log.trials;
    const { values } = await readMetrics(join(home(), 'runs', runs[0].run));
    expect([state, objectives]).toEqual(['complete', [values.get(`val/${metric}`)?.findLast(Number.isFinite)]]);
  },
  60_000,
);

it('a study of which no trial is complete ends with exit code 1, and says why', async () => {
  const args = ['search', blobs, '--trust', '--trials', '2', '--search', 'hiddenUnits=int(2,4)'];
  // No rate of the schedule follows the adaptation.
  const child = spawn(process.execPath, [
    cli,
    ...args,
    '--set',
    'strategy.kind=hdet',
    '--set',
    'schedule.kind=constant',
  ]);
  const said: string[] = [];
  child.stderr.setEncoding('utf8').on('data', (text: string) => said.push(text));
  expect(await once(child, 'close')).toEqual([1, null]);
  expect(said.join('')).toMatch(
    /No trial of the study \S+ is complete, so it has found nothing\. Trial 1: With --schedule/,
  );
}, 60_000);

it('a wrong option leaves no study behind', async () => {
  const before = await listStudyFolders();
  for (const options of [
    ['--array', '4', '--parallel', '2', '--dry-run'],
    ['--parallel-here', 'none'],
  ]) {
    const args = ['search', blobs, '--trust', '--search', 'hiddenUnits=int(2,4)', ...options];
    expect(await once(spawn(process.execPath, [cli, ...args]), 'close')).toEqual([2, null]);
  }
  expect(await listStudyFolders()).toEqual(before);
}, 60_000);
