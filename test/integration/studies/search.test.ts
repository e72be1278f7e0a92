import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { basename, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import type { Study } from '../../../core/protocol/studies/study.ts';
import { objectiveFor } from '../../../src-main/studies/create-study.ts';
import { createStudyFolder, listStudyFolders } from '../../../src-main/studies/folder/study-folder.ts';
import { StudyStore } from '../../../src-main/studies/folder/study-store.ts';
import { makeEnsemble } from '../../../src-main/studies/study-ensemble.ts';
import { createStudy, driveStudy } from '../../../src-main/studies/studies.ts';
import { projectFolder, useHub } from '../harness.ts';

const { hub } = useHub();
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
