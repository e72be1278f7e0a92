import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { StudyRequest } from '../../../core/protocol/studies/study.ts';
import type { Assignment } from '../../../core/studies/space/space.ts';
import { objectiveFor } from '../../../src-main/studies/create-study.ts';
import type { StudyStore } from '../../../src-main/studies/study-store.ts';
import { createStudy, driveStudy } from '../../../src-main/studies/studies.ts';
import { readRunRecord } from '../../../src-main/store/runs/run-folder.ts';
import { metricValues, projectFolder, train, useHub } from '../harness.ts';

const { hub, home } = useHub();
const blobs = projectFolder('blobs');

/** Good values, and values with which nothing is learned. */
const good = { 'optimizer.learningRate': 0.1 };
const bad = { 'optimizer.learningRate': 1e-6 };

/** A study with real runs that tries these values in turn. */
async function studied(values: readonly Assignment[], changes: Partial<StudyRequest>): Promise<StudyStore> {
  const project = await hub().describe(blobs);
  const store = await createStudy(
    hub(),
    {
      projectFolder: blobs,
      name: null,
      trials: values.length,
      objectives: [objectiveFor({ metric: 'nll', kind: 'ensemble' }, project)],
      space: { 'optimizer.learningRate': { kind: 'log', low: 1e-6, high: 1 } },
      sampler: { kind: 'random' },
      overrides: { members: 2, membersPerDevice: 2, maxEpochs: 3 },
      parallel: 1,
      ...changes,
    },
    project,
  );
  await store.append(values.map((own) => ({ type: 'enqueued', values: own })));
  expect(await (await driveStudy(hub(), store, project)).run()).toBe('finished');
  return store;
}

const statesOf = ({ log }: StudyStore) => log.trials.map(({ state }) => state);
const runFolder = (run: string): string => join(home(), 'runs', run);

it('rungs resume the best trial on the schedule of a whole one, bit for bit', async () => {
  const store = await studied([good, bad], {
    pruner: { kind: 'halving', minimumResource: 1, maximumResource: 3, reductionFactor: 2, trials: 2 },
    overrides: { members: 2, membersPerDevice: 2, schedule: { kind: 'cosine', floorFraction: 0.1 } },
  });
  expect(statesOf(store)).toEqual(['complete', 'paused']);
  const [{ run }] = store.log.trials[0].runs;
  const { config, attempts } = await readRunRecord(runFolder(run));
  expect(attempts).toHaveLength(2);
  expect(config).toMatchObject({ maxEpochs: 3, scheduleEpochs: 3 });

  const whole = await train(hub(), 'blobs', { ...config, scheduleEpochs: 0 });
  for (const metric of ['val/ens_nll', 'train/member_0_loss', 'train/member_1_loss']) {
    expect(metricValues(runFolder(run), metric), metric).toEqual(metricValues(whole.folder, metric));
  }
  expect(metricValues(whole.folder, 'val/ens_nll')).toHaveLength(3);
});

it('median stops a trial that is worse at the same epoch', async () => {
  const median = { kind: 'median', startupTrials: 1, warmupSteps: 0, intervalSteps: 1, minimumTrials: 1 } as const;
  const store = await studied([good, bad], { pruner: median });
  expect(statesOf(store)).toEqual(['complete', 'pruned']);
  const [whole, pruned] = store.log.trials;
  expect(whole.reports.map(({ step }) => step)).toEqual([1, 2, 3]);
  expect(pruned).toMatchObject({ reports: [{ step: 1 }], objectives: null, error: null });
  expect(pruned.reports[0].value).toBeGreaterThan(whole.reports[0].value);
});

it('Wilcoxon stops a trial that is worse on the first splits, and trains no further ones', async () => {
  const store = await studied([good, bad], {
    // Both differences are positive with probability 1/4 by chance.
    pruner: { kind: 'wilcoxon', threshold: 0.3, startupSteps: 2 },
    splits: [{ spread: 1 }, { spread: 1.5 }, { spread: 2 }],
  });
  expect(statesOf(store)).toEqual(['complete', 'pruned']);
  expect(store.log.trials.map(({ runs }) => runs.map(({ part }) => part.split))).toEqual([
    [0, 1, 2],
    [0, 1],
  ]);
});
