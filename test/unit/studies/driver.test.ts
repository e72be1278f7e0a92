import { spawnSync } from 'node:child_process';
import { appendFile, readdir, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { StudyLog } from '../../../core/protocol/studies/study-log.ts';
import { studyPaths } from '../../../src-main/studies/study-folder.ts';
import { type NewLine, StudyStore } from '../../../src-main/studies/study-store.ts';
import { isWorkerAlive, WorkerLock } from '../../../src-main/campaigns/locks.ts';
import { drive, evaluationOf, MemoryRunner, newStudy, reopened, type Training } from './memory-runner.ts';
import { studyOf } from './studies.ts';

const lossOf: Training = ({ values }) => [
  evaluationOf(1, 9),
  evaluationOf(2, Math.abs(Math.log(Number(values.weightDecay))) + Number(values.units) / 64),
];

const valuesOf = ({ trials }: StudyLog) => trials.map(({ values }) => values);

describe('the driver of a study', () => {
  it('trains its trials, and the objective is the mean over splits and seeds', async () => {
    const splits = [{ 'data.fold': 0 }, { 'data.fold': 1 }];
    const store = await newStudy(studyOf({ splits, seeds: 2, parallel: 2 }), 3);
    // 1, 2, 3 and 4 for the parts of each trial.
    const runner = new MemoryRunner(({ part }) => [evaluationOf(5, 1 + part.split + 2 * part.seed)]);
    expect(await drive({ store, runner }).run()).toBe('finished');
    expect(store.log.trials.map(({ state, objectives }) => [state, objectives])).toEqual(
      Array.from({ length: 3 }, () => ['complete', [2.5]]),
    );
    expect(runner.jobs.filter(({ trial }) => trial === 0).map(({ part }) => [part.split, part.seed])).toEqual([
      [0, 0],
      [1, 0],
      [0, 1],
      [1, 1],
    ]);
    // Epoch 5 of the first part, then of the parts after it, whose reports are means so far.
    expect(store.log.trials[0].reports).toEqual([
      { step: 5, value: 1 },
      { step: 15, value: 1.5 },
      { step: 25, value: 2 },
      { step: 35, value: 2.5 },
    ]);
  });

  it('scores several objectives, and keeps NaN', async () => {
    const objectives = [
      { metric: 'nll', kind: 'ensemble', direction: 'minimize' },
      { metric: 'nll', kind: 'mean-member', direction: 'minimize' },
    ] as const;
    const store = await newStudy(studyOf({ objectives: [...objectives], parallel: 1 }), 2);
    await drive({ store, runner: new MemoryRunner(() => [evaluationOf(1, 0.5, NaN)]) }).run();
    expect((await reopened(store)).log.trials.map((trial) => trial.objectives)).toEqual([
      [0.5, NaN],
      [0.5, NaN],
    ]);
  });

  it('never scores a trial that failed, and stops after five failures in a row', async () => {
    const store = await newStudy(studyOf({ parallel: 1, sampler: { kind: 'random' } }), 20);
    const runner = new MemoryRunner(({ trial }) =>
      trial % 2 === 0 ? [evaluationOf(1, 1)] : new Error('The loss is NaN.'),
    );
    expect(await drive({ store, runner }).run()).toBe('finished');
    expect(store.log.trials.filter(({ state }) => state === 'failed')).toHaveLength(10);
    expect(store.log.trials[1]).toMatchObject({ state: 'failed', objectives: null, error: 'The loss is NaN.' });
    await store.append([{ type: 'trials', count: 40 }]);
    const hopeless = drive({ store, runner: new MemoryRunner(() => new Error('No disk.')) });
    await expect(hopeless.run()).rejects.toThrow(
      '5 trials failed one after the other, so the study was stopped. The last one: No disk.',
    );
    expect(store.log.trials).toHaveLength(25);
  });

  it('fails a trial whose values no run takes', async () => {
    const store = await newStudy(
      studyOf({ parallel: 1, space: { units: { kind: 'choice', choices: ['none', 14] } } }),
      6,
    );
    await drive({ store, runner: new MemoryRunner(() => [evaluationOf(1, 1)]) }).run();
    const failed = store.log.trials.filter(({ values }) => values.units === 'none');
    expect(failed.length).toBeGreaterThan(0);
    for (const trial of failed) expect(trial).toMatchObject({ state: 'failed', error: 'No model has no units.' });
  });

  it('chooses the same values whichever trial ends first, and after any stop', async () => {
    const study = studyOf({ parallel: 4 });
    const undisturbed = await newStudy(study, 40);
    await drive({ store: undisturbed, runner: new MemoryRunner(lossOf) }).run();
    const disturbed = await newStudy(study, 40);
    const turns = (trial: number): number => (trial * 7) % 11;
    for (let round = 0; ; round++) {
      const store = await reopened(disturbed);
      let changes = 0;
      const driver = drive({
        store,
        runner: new MemoryRunner(lossOf, turns),
        onChange: () => {
          if (++changes === 3 + round) driver.stop();
        },
      });
      if ((await driver.run()) === 'finished') break;
    }
    await disturbed.refresh();
    expect(valuesOf(disturbed.log)).toEqual(valuesOf(undisturbed.log));
    expect(disturbed.log.trials.map(({ objectives }) => objectives)).toEqual(
      undisturbed.log.trials.map(({ objectives }) => objectives),
    );
    // Stops are no losses.
    expect(disturbed.log.works.every(({ losses }) => losses === 0)).toBe(true);
  });

  it('takes over the trial of a process that is gone, with its run, and gives it up after four', async () => {
    const store = await newStudy(studyOf({ parallel: 1 }), 2);
    const begin = { type: 'begin', values: { weightDecay: 1, units: 3 }, isEnqueued: false, until: null } as const;
    await store.append([
      { ...begin, work: 0, number: 0, worker: 'gone' },
      { type: 'run', number: 0, part: { split: 0, seed: 0 }, run: 'run-of-the-dead', ranks: null, devices: [] },
    ]);
    const runner = new MemoryRunner(lossOf);
    await drive({ store, runner }).run();
    expect(runner.jobs[0]).toMatchObject({ trial: 0, earlier: 'run-of-the-dead' });
    expect(store.log.works[0].losses).toBe(1);
    await store.append([
      { type: 'trials', count: 3 },
      { ...begin, work: 2, number: 2, worker: 'a' },
      ...['b', 'c', 'd'].map((worker) => ({ type: 'claim', work: 2, worker }) as const),
    ]);
    await drive({ store, runner }).run();
    expect(store.log.trials[2]).toMatchObject({
      state: 'failed',
      error: '4 processes ended while they trained this trial, so it is not tried again.',
    });
  });

  it('shares the trials with others, and loses and repeats none', async () => {
    const study = studyOf({ parallel: 8 });
    const store = await newStudy(study, 60);
    const stores = await Promise.all(Array.from({ length: 8 }, () => reopened(store)));
    const runners = stores.map(() => new MemoryRunner(lossOf, (trial) => trial % 5));
    const ends = await Promise.all(
      stores.map((own, index) => drive({ store: own, runner: runners[index], places: 1 }).run()),
    );
    expect(ends).toEqual(Array.from({ length: 8 }, () => 'finished'));
    await store.refresh();
    expect(store.warnings).toEqual([]);
    expect(store.log.trials.map(({ number, state }) => [number, state])).toEqual(
      Array.from({ length: 60 }, (_, number) => [number, 'complete']),
    );
    expect(runners.flatMap(({ jobs }) => jobs.map(({ trial }) => trial)).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 60 }, (_, trial) => trial),
    );
  });

  it('gives trials that share a worker a seat each, which they leave at their ends', async () => {
    const study = studyOf({ parallel: 8, trialsPerWorker: 4, sampler: { kind: 'random' } });
    const store = await newStudy(study, 10);
    const runner = new MemoryRunner(
      ({ trial }) => (trial === 1 ? new Error('The loss is NaN.') : [evaluationOf(1, trial)]),
      (trial) => trial % 3,
    );
    expect(await drive({ store, runner }).run()).toBe('finished');
    expect(store.log.trials.map(({ state }) => state === 'failed')).toEqual(
      Array.from({ length: 10 }, (_, number) => number === 1),
    );
    const seats = runner.jobs.map(({ seat }) => seat);
    expect(new Set(seats).size).toBe(10);
    expect(seats.every((seat) => seat?.hasLeft)).toBe(true);
    const groups = store.log.works.map(({ group }) => group?.first);
    expect(groups).toEqual([0, 0, 0, 0, 4, 4, 4, 4, 8, 8]);
  });

  it('asks a trial that takes long to stop only once', async () => {
    const store = await newStudy(studyOf({ parallel: 2 }), 10);
    let isAsked = false;
    let turnsLeft = 200;
    const begun = new Set<number>();
    const runner = new MemoryRunner(
      (job) => {
        begun.add(job.trial);
        if (begun.size === 2) {
          setImmediate(() => {
            driver.stop();
            isAsked = true;
          });
        }
        return lossOf(job);
      },
      // Both train until they are asked to stop, and then for a while.
      () => (isAsked && (turnsLeft -= 1) < 0 ? 0 : Infinity),
    );
    const driver = drive({ store, runner });
    expect(await driver.run()).toBe('stopped');
    expect(new Set(runner.stops)).toEqual(new Set([0, 1]));
    expect(runner.stops).toHaveLength(2);
  });

  it('stops when another process asks for it', async () => {
    const store = await newStudy(studyOf({ parallel: 2 }), 1000);
    const other = await reopened(store);
    let hasAsked = false;
    const driver = drive({
      store,
      runner: new MemoryRunner(lossOf),
      onChange: () => {
        if (hasAsked || store.log.trials.length < 5) return;
        hasAsked = true;
        void other.append([{ type: 'stop' }]);
      },
    });
    expect(await driver.run()).toBe('stopped');
    expect(store.log.trials.length).toBeLessThan(1000);
    // The stop belongs to the processes that worked then.
    await store.append([{ type: 'trials', count: store.log.trials.length }]);
    expect(await drive({ store, runner: new MemoryRunner(lossOf) }).run()).toBe('finished');
  });

  it('stops trials that are below the median, wherever they stand in parallel', async () => {
    const pruner = { kind: 'median', startupTrials: 2, warmupSteps: 0, intervalSteps: 1, minimumTrials: 1 } as const;
    const bad: Training = ({ trial }) =>
      Array.from({ length: 6 }, (_, epoch) => evaluationOf(epoch + 1, trial < 4 ? 1 : trial === 6 ? 5 : 0.5));
    const states = [];
    for (const turns of [() => 0, (trial: number) => (trial * 5) % 7]) {
      const store = await newStudy(studyOf({ pruner, parallel: 2, sampler: { kind: 'random' } }), 10);
      await drive({ store, runner: new MemoryRunner(bad, turns) }).run();
      states.push(store.log.trials.map(({ state, reports }) => [state, reports.length]));
    }
    expect(states[0][6]).toEqual(['pruned', 1]);
    expect(states[0].filter(([state]) => state === 'complete')).toHaveLength(9);
    expect(states[1]).toEqual(states[0]);
  });

  it('pauses trials at rungs, and resumes the best', async () => {
    const pruner = { kind: 'halving', minimumResource: 1, maximumResource: 9, reductionFactor: 3, trials: 9 } as const;
    const store = await newStudy(studyOf({ pruner, parallel: 3, sampler: { kind: 'random' } }), 9);
    const runner = new MemoryRunner(({ trial, until }) => [evaluationOf(until ?? 0, trial)]);
    expect(await drive({ store, runner }).run()).toBe('finished');
    expect(store.log.trials.map(({ state }) => state)).toEqual([
      'complete',
      ...Array.from({ length: 8 }, () => 'paused'),
    ]);
    expect(runner.jobs.filter(({ trial }) => trial === 0).map(({ until, earlier }) => [until, earlier])).toEqual([
      [1, null],
      [3, 'run-0-0-0'],
      [9, 'run-0-0-0'],
    ]);
    expect(runner.jobs.filter(({ until }) => until === 3)).toHaveLength(3);
  });

  it('skips a line that a crash cut short, and says so', async () => {
    const store = await newStudy(studyOf({ parallel: 1 }), 2);
    await appendFile(studyPaths(store.folder).trials, '{"type":"begin","work":0,"num');
    expect(await drive({ store, runner: new MemoryRunner(lossOf) }).run()).toBe('finished');
    expect(store.log.trials).toHaveLength(2);
    expect(store.warnings).toEqual([expect.stringContaining('line 2, was skipped: it is not whole')]);
  });
});

it.each<[string, NewLine]>([
  ['follow on nothing', { type: 'release', work: 3, worker: 'w' }],
  ['do not follow the format', { type: 'trials', count: 0 }],
])('a study whose first lines %s is not created', async (_, line) => {
  const { folder, study } = await newStudy(studyOf(), 1);
  const other = { ...study, id: 'study-2' };
  await expect(StudyStore.create(other, [{ type: 'trials', count: 2 }, line])).rejects.toThrow('line 2, was skipped');
  expect(await readdir(dirname(folder))).toEqual(['study-1']);
  expect((await StudyStore.create(other, [{ type: 'trials', count: 2 }])).log.wanted).toBe(2);
});

it('tells whether a process that works on a study lives', async () => {
  const store = await newStudy(studyOf(), 1);
  const lock = await WorkerLock.take(store.folder);
  expect(isWorkerAlive(store.folder, lock.id)).toBe(true);
  lock.release();
  expect(isWorkerAlive(store.folder, lock.id)).toBe(false);
});

it('a process that begins to work on a study removes what killed ones left: locks that are free, and temporary files', async () => {
  const store = await newStudy(studyOf(), 1);
  const { study, workers } = studyPaths(store.folder);
  const living = await WorkerLock.take(store.folder);
  const { pid: gone } = spawnSync(process.execPath, ['-e', '']);
  await writeFile(`${study}.${gone}-1.tmp`, '');
  // A process that begins takes `new.lock` in a moment.
  for (const name of ['new.lock', 'old.lock']) await writeFile(join(workers, name), '');
  const earlier = new Date(Date.now() - 120_000);
  await utimes(join(workers, 'old.lock'), earlier, earlier);
  await utimes(join(workers, `${living.id}.lock`), earlier, earlier);
  const next = await WorkerLock.take(store.folder);
  const names = await readdir(workers);
  expect(names.toSorted()).toEqual([`${living.id}.lock`, 'new.lock', `${next.id}.lock`].toSorted());
  expect((await readdir(store.folder)).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  living.release();
  next.release();
});
