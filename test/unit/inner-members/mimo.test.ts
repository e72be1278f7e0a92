import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { startBackend } from '../../../workers/backends/backend.ts';
import { mimo, tf } from '../../../workers/index.ts';
import { Generator, withSeededMathRandom } from '../../../workers/random/index.ts';
import type { Tensor } from '../../../workers/tensorflow/tf.ts';
import { expectClose, golden, mimoNetwork, tensorOf } from './describe-inner-layers.ts';

beforeAll(() => startBackend('cpu'));

/** Rows `[R·B, M]` of samples that are their own numbers, and the positions. */
function draw(members: number, samples: number, batchRepetitions: number, inputRepetition: number) {
  const layer = mimo({ members, batchRepetitions, inputRepetition }).inputs();
  const x = tf.range(0, samples).reshape([samples, 1]);
  const [rows, positions] = layer.apply(x, { training: true }) as Tensor[];
  return { rows: rows.arraySync() as number[][], positions: positions.arraySync() as number[][] };
}

describe('the batches of MIMO', () => {
  it('give each member every sample as often as the others, in an order of its own', () =>
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 0, max: 9 }),
        fc.integer({ min: 1, max: 3 }),
        fc.constantFrom(0, 0.3, 0.5, 1),
        (members, samples, repetitions, share) => {
          const { rows, positions } = draw(members, samples, repetitions, share);
          const count = samples * repetitions;
          expect(rows).toHaveLength(count);
          const expected = Array.from({ length: count }, (_, row) => row % samples);
          for (let member = 0; member < members; member++) {
            // Where the member finds the samples, one batch after the other.
            expect(positions.map((own) => rows[own[member]][member])).toEqual(expected);
            expect(new Set(positions.map((own) => own[member])).size).toBe(count);
          }
          const common = rows.slice(Math.floor(count * (1 - share)));
          for (const row of common) expect(new Set(row).size).toBe(1);
        },
      ),
      { seed: 3, numRuns: 60 },
    ));

  it('differ between members, and follow from the stream of Math.random', async () => {
    const seeded = (seed: number) =>
      withSeededMathRandom(new Generator(seed, 'mimo'), async () => draw(2, 40, 1, 0).rows);
    const first = await seeded(1);
    expect(first.filter(([one, other]) => one === other).length).toBeLessThan(8);
    expect(await seeded(1)).toEqual(first);
    expect(await seeded(2)).not.toEqual(first);
  });

  it('repeat the sample for all members in inference', () => {
    const x = tf.tensor4d([1, 2, 3, 4, 5, 6], [1, 2, 1, 3]);
    const [rows, positions] = mimo({ members: 2, batchRepetitions: 3 }).inputs().apply(x) as Tensor[];
    expect(rows.shape).toEqual([1, 2, 1, 6]);
    expect([...rows.dataSync()]).toEqual([1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6]);
    expect(positions.shape).toEqual([1, 2]);
  });

  it.each([
    [{ members: 0 }, 'members is 0'],
    [{ members: 2, batchRepetitions: 1.5 }, 'batchRepetitions is 1.5'],
    [{ members: 2, inputRepetition: -0.1 }, 'inputRepetition is -0.1'],
    [{ members: 2, inputRepetition: Number.NaN }, 'inputRepetition is NaN'],
  ])('are refused for wrong options: %o', (options, message) => {
    expect(() => mimo(options).inputs()).toThrow(message);
  });
});

describe('the heads of MIMO', () => {
  it('predict one member after the other', async () => {
    for (const testCase of golden.mimo) {
      const [model] = mimoNetwork(testCase);
      const heads = model.layers[model.layers.length - 2];
      const whole = tf.model({ inputs: model.inputs, outputs: heads.output });
      const { members, x } = testCase;
      const logits = whole.predict(tensorOf(x)) as Tensor;
      await expectClose(tf.reshape(tf.softmax(logits), members.shape), members, 'members');
    }
  });

  it('take several steps', () => {
    const { inputs, heads } = mimo({ members: 2 });
    const [rows, positions] = inputs().apply(tf.randomNormal([5, 4, 3], 0, 1, 'float32', 2), {
      training: true,
    }) as Tensor[];
    const layer = heads({ units: 2 });
    expect((layer.apply([rows, positions], { training: true }) as Tensor).shape).toEqual([10, 4, 2]);
    expect(() => layer.apply(rows)).toThrow('takes features and the positions that the inputs() of mimo returned');
  });
});
