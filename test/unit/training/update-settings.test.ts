import { beforeAll, describe, expect, it } from 'vitest';
import { optimizerSchema } from '../../../core/protocol/run/optimizer-config.ts';
import { startBackend } from '../../../workers/backends/backend.ts';
import { tf } from '../../../workers/tensorflow/tf.ts';
import { createOptimizer, type UpdateSettings } from '../../../workers/optimizers/optimizers.ts';

beforeAll(async () => void (await startBackend('cpu')));

/** Values of two variables that start at 1, after updates with gradients of 1 and the settings of each step. */
function train(
  config: Record<string, unknown>,
  steps: readonly (UpdateSettings | readonly UpdateSettings[])[],
): number[] {
  const variables = [tf.variable(tf.scalar(1)), tf.variable(tf.scalar(1))];
  const optimizer = createOptimizer(optimizerSchema.parse(config), variables);
  for (const settings of steps) optimizer.apply([tf.scalar(1), tf.scalar(1)], settings);
  return variables.map((variable) => variable.dataSync()[0]);
}

describe('settings of one update', () => {
  it("momentum replaces SGD's default: v = 1, then 0.5 + 1", () => {
    const [value] = train({ kind: 'sgd', momentum: 0.9 }, [
      { learningRate: 0.1, momentum: 0.5 },
      { learningRate: 0.1, momentum: 0.5 },
    ]);
    expect(value).toBeCloseTo(1 - 0.1 - 0.15, 6);
  });

  it('momentum leaves an optimizer without momentum unchanged', () => {
    const [value] = train({ kind: 'sgd' }, [{ learningRate: 0.1, momentum: 0.5 }, { learningRate: 0.1 }]);
    expect(value).toBeCloseTo(0.8, 6);
  });

  it('each variable may have a separate rate and decay', () => {
    const [first, second] = train({ kind: 'sgd', weightDecay: 0 }, [
      [{ learningRate: 0.1 }, { learningRate: 0.2, weightDecay: 0.5 }],
    ]);
    expect(first).toBeCloseTo(0.9, 6);
    expect(second).toBeCloseTo(1 - 0.2 * 1.5, 6);
  });

  it("momentum is Adam's beta1: m = 0.5, corrected by 1 - 0.5, then m = 0.8 of the first and 0.2 of the second", () => {
    const [value] = train({ kind: 'adam', epsilon: 1e-12 }, [{ learningRate: 0.1, momentum: 0.5 }]);
    expect(value).toBeCloseTo(0.9, 5);
    const [twice] = train({ kind: 'adam', epsilon: 1e-12 }, [
      { learningRate: 0.1, momentum: 0.5 },
      { learningRate: 0.1, momentum: 0.8 },
    ]);
    // m = 0.8 * 0.5 + 0.2 = 0.6, corrected by 1 - 0.8^2 = 0.36; the mean square is 1.
    expect(twice).toBeCloseTo(0.9 - (0.1 * 0.6) / 0.36, 5);
  });

  it('decay of AdamW differs by variable: it keeps 1 - 0.1 * 0.5 of the weight', () => {
    const [first, second] = train({ kind: 'adamw', weightDecay: 0, epsilon: 1e-12 }, [
      [{ learningRate: 0.1 }, { learningRate: 0.1, weightDecay: 0.5 }],
    ]);
    expect(first).toBeCloseTo(0.9, 5);
    expect(second).toBeCloseTo(0.95 - 0.1, 5);
  });
});
