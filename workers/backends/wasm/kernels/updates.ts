import { tf, type Tensor, type Variable } from '../../../tensorflow/tf.ts';
import type { UpdateInputs, UpdateKernels } from '../../../optimizers/update-kernels.ts';
import type { WasmRuntime } from '../kernel.ts';
import type { TensorMemory } from '../memory/tensor-memory.ts';

/** The optimizers' updates, one call per variable. */
export function createUpdateKernels({ kernels, memory }: WasmRuntime): UpdateKernels {
  return {
    adam(inputs, { beta1, beta2, rate, epsilon, keep, penalty }) {
      inPlace(memory, inputs, (theta, gradient, size, [mean, square]) =>
        kernels.updateAdam(
          theta,
          gradient,
          mean,
          square,
          size,
          beta1,
          1 - beta1,
          beta2,
          1 - beta2,
          rate,
          epsilon,
          keep,
          penalty,
        ),
      );
    },
    sgd(inputs, { rate, momentum, penalty, nesterov }) {
      inPlace(memory, inputs, (theta, gradient, size, [velocity = 0]) =>
        kernels.updateSgd(theta, gradient, velocity, size, rate, momentum, penalty, Number(nesterov)),
      );
    },
  };
}

type Update = (theta: number, gradient: number, size: number, slots: number[]) => void;

function inPlace(memory: TensorMemory, { variable, gradient, slots, row }: UpdateInputs, update: Update): void {
  for (const changed of [variable, ...slots]) ownData(memory, changed);
  const size = row === undefined ? variable.size : variable.size / variable.shape[0];
  const addressOf = (tensor: Tensor): number => memory.address(tensor) + 4 * (row ?? 0) * size;
  update(addressOf(variable), addressOf(gradient), size, slots.map(addressOf));
  for (const changed of [variable, ...slots]) memory.changed(changed);
}

/** Copies a variable's data if a clone or a reshaped tensor still shares it. */
function ownData(memory: TensorMemory, variable: Variable): void {
  if (memory.isShared(variable)) tf.tidy(() => variable.assign(tf.add(variable, 0)));
}
