import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
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

const stop = { action: 'stop' } as const;

interface Outcome {
  /** By rank. */
  points: ReportedPoint[][];
  weights: number[][];
  callbacks: unknown[];
  history: unknown[];
  reason: string;
  /** Points that a resume keeps, by rank: of a state within a round, those before it. */
  kept: ReportedPoint[][];
}

/**
 * Trains both ranks, from their newest common state if there is one.
 * @param stops step at which each rank receives a stop
 */
async function trainRanks(input: RunConfigInput, folder: string, stops: readonly number[] = []): Promise<Outcome> {
  const ranks = createInMemoryGroup([0, 1]).groups.map((group) => partsOf(input, folder, group));
  const isLockstep = ranks[0].strategy.isLockstep;
  const point = await findResumePoint(folder, [0, 1]);
  const trainers: Trainer[] = [];
  for (const [rank, parts] of ranks.entries()) {
    const resumed = point === null ? undefined : await loadTrainingState(parts, { round: point.round, worldSize: 2 });
    // A hub sends a stop to all ranks. Independent ranks receive it at different steps.
    const receivers = isLockstep ? ranks : [parts];
    const stopper: Callback = {
      name: 'stopper',
      onStepEnd: ({ step }) => {
        if (step === stops[rank] && (rank === 0 || !isLockstep))
          for (const { controls } of receivers) controls.take(stop);
      },
    };
    if (stops[isLockstep ? 0 : rank] === 0) parts.controls.take(stop);
    trainers.push(new Trainer({ ...parts, callbacks: [...parts.callbacks, stopper] }, resumed));
  }
  const [reason] = await Promise.all(trainers.map((trainer) => trainer.fit()));
  const isWithinRound = ((await findResumePoint(folder, [0, 1]))?.metricRows ?? null) !== null;
  return {
    reason,
    points: ranks.map(({ report }) => untimed(report.points)),
    kept: ranks.map(({ report }) =>
      untimed(isWithinRound ? report.points.slice(0, report.recordedPoints) : report.points),
    ),
    weights: ranks.map(({ member }) => member.model.getWeights().flatMap((weight) => [...weight.dataSync()])),
    callbacks: ranks.map(({ callbacks }) => callbacks.map((callback) => callback.state?.())),
    history: trainers.map(({ history }) => history.series),
  };
}

function untimed(points: readonly ReportedPoint[]): ReportedPoint[] {
  return points.filter(({ name }) => !name.endsWith('samples_per_second'));
}

/** SHA-256 of the weights and predictions in a run's folder, by path. */
function contents(folder: string): Map<string, string> {
  const files = ['checkpoints', 'predictions'].flatMap((part) =>
    readdirSync(join(folder, part), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.safetensors'))
      .map((name) => join(part, name)),
  );
  const hash = (path: string) =>
    createHash('sha256')
      .update(readFileSync(join(folder, path)))
      .digest('hex');
  return new Map(files.sort().map((path) => [path, hash(path)]));
}

const inOrder = (points: readonly ReportedPoint[]): string[] => points.map((point) => JSON.stringify(point)).sort();

/** A stop within a round empties the pipeline, which changes the steps after it. */
const cases: [string, RunConfigInput][] = [
  ...Object.entries(strategies).map(([name, strategy]): [string, RunConfigInput] => [name, { strategy }]),
  ['independent, with a fold of each rank', { data: { folds: 2, foldPerRank: true } }],
];

describe.each(cases)('%s training, stopped and resumed', (_, own) => {
  it('reports, decides and saves what a run does that never stopped, bit for bit', async () => {
    const draws = fc.record({
      evaluateEveryEpochs: fc.constantFrom(1, 3),
      // 14 steps an epoch for a rank that has all samples, 7 where the ranks share them.
      stops: fc.array(fc.tuple(fc.nat(55), fc.nat(55)), { minLength: 1, maxLength: 2 }),
      keepPredictions: fc.constantFrom('best' as const, 'all' as const),
    });
    await fc.assert(
      fc.asyncProperty(draws, async ({ evaluateEveryEpochs, stops, keepPredictions }) => {
        const earlyStopping = { enabled: true, patience: 3, minDelta: 0.01 };
        const input: RunConfigInput = {
          ...base,
          ...own,
          evaluateEveryEpochs,
          keepPredictions,
          earlyStopping,
          maxEpochs: 5,
        };
        const [through, stopped] = [await temporaryFolder(), await temporaryFolder()];
        const whole = await trainRanks(input, through);
        const kept: ReportedPoint[][] = [[], []];
        let resumed: Outcome | null = null;
        for (const at of [...stops, []]) {
          // A run that has ended in spite of the stop is not resumed.
          if (resumed === null || resumed.reason === 'requested') resumed = await trainRanks(input, stopped, at);
          else break;
          resumed.kept.forEach((points, rank) => kept[rank].push(...points));
        }
        whole.points.forEach((points, rank) => expect(inOrder(kept[rank])).toEqual(inOrder(points)));
        expect(resumed?.weights).toEqual(whole.weights);
        expect(resumed?.callbacks).toEqual(whole.callbacks);
        expect(resumed?.history).toEqual(whole.history);
        expect(contents(stopped)).toEqual(contents(through));
      }),
      { seed: 12, numRuns: 4, endOnFailure: true },
    );
  });
});
