import { beforeAll, describe, expect, it } from 'vitest';
import { startBackend } from '../../../workers/backends/backend.ts';
import { type UpdateInputs, updateByOps } from '../../../workers/optimizers/update-kernels.ts';
import { tf } from '../../../workers/tensorflow/tf.ts';

beforeAll(async () => void (await startBackend('wasm')));

/** θ ← θ − c·g; s ← s + g */
const descent = () =>
  updateByOps<number>((variable, gradient, [sum], constant) => ({
    variable: tf.sub(variable, tf.mul(gradient, constant)),
    slots: [tf.add(sum, gradient)],
  }));

const inputs = (): UpdateInputs => ({
  variable: tf.variable(tf.tensor2d([1, 2, 3, 4], [2, 2])),
  gradient: tf.tensor2d([1, 10, 100, 1000], [2, 2]),
  slots: [tf.variable(tf.zeros([2, 2]))],
});

const valuesOf = ({ variable, slots }: UpdateInputs) => [variable, ...slots].map((own) => [...own.dataSync()]);

describe('an update made of ops', () => {
  it('needs no kernel of the backend, for a whole variable or a row of it', () => {
    const [whole, row] = [inputs(), { ...inputs(), row: 1 }];
    descent().current(whole, 0.5);
    descent().current(row, 0.5);
    expect(valuesOf(whole)).toEqual([
      [0.5, -3, -47, -496],
      [1, 10, 100, 1000],
    ]);
    expect(valuesOf(row)).toEqual([
      [1, 2, -47, -496],
      [0, 0, 100, 1000],
    ]);
  });

  it('is replaced by the kernel of its own backend alone', () => {
    const update = descent();
    const changed = inputs();
    update.register('webgpu', () => expect.unreachable());
    update.current(changed, 1);
    expect(valuesOf(changed)[0]).toEqual([0, -8, -97, -996]);
    update.register('wasm', ({ variable }) => tf.tidy(() => variable.assign(tf.zerosLike(variable))));
    update.current(changed, 1);
    expect(valuesOf(changed)[0]).toEqual([0, 0, 0, 0]);
  });
});
