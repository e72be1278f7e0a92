import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { RunConfigInput } from '../../../../core/protocol/run/config.ts';
import { findResumePoint } from '../../../../src-main/store/runs/resume-point.ts';
import { startBackend } from '../../../../workers/backends/backend.ts';
import type { Callback } from '../../../../workers/callbacks/callback.ts';
import { loadTrainingState } from '../../../../workers/training/saved-state.ts';
import { Trainer } from '../../../../workers/training/trainer.ts';
import { createInMemoryGroup } from '../../relay/in-memory-group.ts';
import { type ReportedPoint, temporaryFolder } from './fakes.ts';
import { base, partsOf, strategies } from './two-ranks.ts';

beforeAll(async () => void (await startBackend('cpu')));

const stepsPerEpoch = 14;
const input: RunConfigInput = { ...base, checkpoints: { stateEverySeconds: 1_000_000 }, keepPredictions: 'all' };

interface Outcome {
  points: ReportedPoint[][];
  /** Those that the hub had written when it died. */
  written: ReportedPoint[][];
  weights: number[][];
  callbacks: unknown[];
  /** Steps of the ranks. */
  steps: number[];
}

/** When the hub dies. */
interface Death {
  /** Once rank 0 has done that many steps. */
  step?: number;
  /** In the evaluation of rank 0 after that epoch. */
  evaluationAfterEpoch?: number;
  /** Instead of its answer to the n-th request that the metrics be written. */
  request?: number;
}

/** Trains two ranks, from their states if there are any. */
async function trainRanks(folder: string, config: RunConfigInput, death: Death = {}): Promise<Outcome> {
  const { groups, hubChannels } = createInMemoryGroup([0, 1]);
  const ranks = groups.map((group) => partsOf(config, folder, group));
  const die = (): void => {
    for (const channel of hubChannels) channel.close();
    for (const { controls } of ranks) controls.loseHub();
  };
  let requests = 0;
  ranks.forEach(({ report, controls }) => {
    report.recorded = async () => {
      requests += 1;
      if (requests === death.request) die();
      if (controls.isHubGone) return null;
      // The hub writes the points of all ranks.
      for (const rank of ranks) rank.report.recordedPoints = rank.report.points.length;
      return report.recordedPoints;
    };
  });
  const killer: Callback = {
    name: 'killer',
    onStepEnd: ({ step, rank }) => void (rank === 0 && step === death.step && die()),
    onEvaluation: async ({ rank }, { epoch }) => void (rank === 0 && epoch === death.evaluationAfterEpoch && die()),
  };
  const point = await findResumePoint(folder, [0, 1]);
  const trainers: Trainer[] = [];
  for (const parts of ranks) {
    const resumed = point === null ? undefined : await loadTrainingState(parts, { round: point.round, worldSize: 2 });
    trainers.push(new Trainer({ ...parts, callbacks: [...parts.callbacks, killer] }, resumed));
  }
  const ends = await Promise.allSettled(trainers.map((trainer) => trainer.fit()));
  const isKilled = Object.keys(death).length > 0;
  expect(ends.map(({ status }) => status)).toEqual(isKilled ? ['rejected', 'rejected'] : ['fulfilled', 'fulfilled']);
  const untimed = ({ name }: ReportedPoint): boolean => !name.endsWith('samples_per_second');
  return {
    points: ranks.map(({ report }) => report.points.filter(untimed)),
    written: ranks.map(({ report }) => report.points.slice(0, report.recordedPoints).filter(untimed)),
    weights: ranks.map(({ member }) => member.model.getWeights().flatMap((weight) => [...weight.dataSync()])),
    callbacks: ranks.map(({ callbacks }) => callbacks.map((callback) => callback.state?.())),
    steps: trainers.map(({ training }) => training.step),
  };
}

async function runFolder(attempts: number): Promise<string> {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'run.json'), JSON.stringify({ attempts: Array.from({ length: attempts }, () => ({})) }));
  return folder;
}

/** Each point once: a resumed rank reports again what the hub may not have written. */
const distinct = (points: readonly ReportedPoint[]): string[] =>
  [...new Set(points.map((point) => JSON.stringify(point)))].sort();

describe('independent ranks whose hub dies', () => {
  it.each([1, 3])(
    'save their last steps; the resumed run has the bits of an uninterrupted one (every %i epochs)',
    async (every) => {
      const config = { ...input, evaluateEveryEpochs: every };
      const whole = await trainRanks(await runFolder(1), config);
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 1, max: 4 * stepsPerEpoch - 1 }), async (step) => {
          const folder = await runFolder(1);
          const killed = await trainRanks(folder, config, { step });
          const point = await findResumePoint(folder, [0, 1]);
          expect(point).toMatchObject({ step: Math.max(...killed.steps), metricRows: null });
          expect(killed.steps[0]).toBe(step);
          // The hub had written nothing: all points come from the states.
          const resumed = await trainRanks(folder, config);
          resumed.points.forEach((points, rank) => expect(distinct(points)).toEqual(distinct(whole.points[rank])));
          expect(resumed.weights).toEqual(whole.weights);
          expect(resumed.callbacks).toEqual(whole.callbacks);
        }),
        { seed: 5, numRuns: 4, endOnFailure: true },
      );
    },
  );

  it('in an evaluation meet there again', async () => {
    const config = { ...input, evaluateEveryEpochs: 2 };
    const whole = await trainRanks(await runFolder(1), config);
    const folder = await runFolder(1);
    await trainRanks(folder, config, { evaluationAfterEpoch: 1 });
    expect(await findResumePoint(folder, [0, 1])).toMatchObject({ step: 2 * stepsPerEpoch });
    const resumed = await trainRanks(folder, config);
    resumed.points.forEach((points, rank) => expect(distinct(points)).toEqual(distinct(whole.points[rank])));
    expect(resumed.weights).toEqual(whole.weights);
    expect(resumed.callbacks).toEqual(whole.callbacks);
  });

  it('save nothing into a run that another hub has taken over', async () => {
    const folder = await runFolder(2);
    await trainRanks(folder, input, { step: 5 });
    expect(await findResumePoint(folder, [0, 1])).toBeNull();
  });
});

it.each(Object.keys(strategies))(
  'a hub that dies while ranks save their states leaves no gap of metrics (%s)',
  async (name) => {
    const config = { ...input, strategy: strategies[name], checkpoints: { stateEverySeconds: 0 } };
    const whole = await trainRanks(await runFolder(1), config);
    for (const request of [1, 3]) {
      const folder = await runFolder(1);
      const killed = await trainRanks(folder, config, { request });
      const resumed = await trainRanks(folder, config);
      whole.points.forEach((points, of) => {
        expect(distinct([...killed.written[of], ...resumed.points[of]])).toEqual(distinct(points));
      });
      expect(resumed.weights).toEqual(whole.weights);
    }
  },
);
