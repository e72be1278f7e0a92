import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { type RunConfigInput, runConfigSchema } from '../../../../core/protocol/run/config.ts';
import { startBackend } from '../../../../workers/backends/backend.ts';
import { tf } from '../../../../workers/tensorflow/tf.ts';
import { createHeads, lossOfHeads, trainReference } from '../heads-reference.ts';
import { createRanks, largestDifference, type TrainedRank, trainRanks, weightsOf } from '../ranks.ts';

const steps = 20;

const optimizers = fc.constantFrom<NonNullable<RunConfigInput['optimizer']>[]>(
  { kind: 'adam', learningRate: 0.02 },
  { kind: 'adamw', learningRate: 0.02, weightDecay: 0.1 },
  { kind: 'sgd', learningRate: 0.02, momentum: 0.9, weightDecay: 0.01 },
);

/** 53 samples: most of these batch sizes leave an uneven last batch, and many leave an empty one on the last ranks. */
const cases = fc.record({
  kind: fc.constantFrom('data-parallel' as const, 'sharded' as const, 'hdet' as const),
  members: fc.integer({ min: 2, max: 4 }),
  batchSize: fc.integer({ min: 1, max: 6 }),
  accumulate: fc.integer({ min: 1, max: 3 }),
  clipNorm: fc.constantFrom(0, 0.5),
  compression: fc.constantFrom('none' as const, 'none' as const, 'bfloat16' as const),
  optimizer: optimizers,
  stepMask: fc.integer({ min: 0, max: 255 }),
  seed: fc.integer({ min: 0, max: 1000 }),
});
type Case = typeof cases extends fc.Arbitrary<infer T> ? T : never;

function configOf({ members, batchSize, optimizer, seed, kind, ...drawn }: Case): RunConfigInput {
  const { accumulate, clipNorm, compression } = drawn;
  const exchange = { accumulate, compression };
  const strategy = kind === 'hdet' ? ({ kind, spread: 0, ...exchange } as const) : ({ kind, ...exchange } as const);
  return { members, batchSize, optimizer: { ...optimizer, clipNorm }, seed, strategy };
}

async function train(drawn: Case): Promise<{ ranks: TrainedRank[]; start: number[][] }> {
  const input = configOf(drawn);
  const loss = lossOfHeads(drawn.stepMask);
  const ranks = await createRanks(input, { create: createHeads, loss, totalSteps: steps });
  const start = ranks[0].member.variables.map((variable) => [...variable.dataSync()]);
  await trainRanks(ranks, input, { to: steps });
  return { ranks, start };
}

function dispose(ranks: readonly TrainedRank[]): void {
  for (const { member } of ranks) {
    member.model.dispose();
    tf.dispose([...member.optimizer.slots.values()]);
  }
}

describe.each(['cpu', 'wasm'] as const)("weights outside the loss's graph, on %s", (backend) => {
  beforeAll(async () => void (await startBackend(backend)));

  it('are updated as in a float64 reference and equally on all ranks, whatever depends on them at each step and rank', async () => {
    await fc.assert(
      fc.asyncProperty(cases, async (drawn) => {
        const { ranks, start } = await train(drawn);
        const [first, ...others] = ranks.map(weightsOf);
        for (const other of others) expect(other).toEqual(first);
        const config = runConfigSchema.parse(configOf(drawn));
        const reference = trainReference(start, config, steps, drawn.stepMask);
        // Adam divides by the gradient's magnitude, so a gradient rounded to 8 bits may move a weight by a few percent
        // of the step.
        const tolerance = drawn.compression === 'bfloat16' ? 0.1 : 1e-4;
        expect(largestDifference(first, reference.flat())).toBeLessThan(tolerance);
        dispose(ranks);
      }),
      { seed: 20, numRuns: 24 },
    );
  });

  it('stay unchanged if no loss depends on them, even with weight decay and bfloat16 gradients', async () => {
    const shared = { members: 3, batchSize: 2, accumulate: 1, clipNorm: 0, stepMask: 0, seed: 3 } as const;
    const optimizer = { kind: 'adamw', learningRate: 0.02, weightDecay: 0.5 } as const;
    for (const kind of ['data-parallel', 'sharded', 'hdet'] as const) {
      for (const compression of ['none', 'bfloat16'] as const) {
        const { ranks, start } = await train({ ...shared, kind, compression, optimizer });
        for (const { member } of ranks) {
          const secondHead = member.variables.slice(2, 4).map((variable) => [...variable.dataSync()]);
          expect(secondHead).toEqual(start.slice(2, 4));
        }
        dispose(ranks);
      }
    }
  });
});
