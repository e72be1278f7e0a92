import { tf, type Tensor, type Variable } from '../../../tensorflow/tf.ts';
import type { TensorInfo } from '@tensorflow/tfjs-core';
import { adamUpdate } from '../../../optimizers/adam.ts';
import { type LambConstants, lambDirection } from '../../../optimizers/lamb.ts';
import { lionUpdate } from '../../../optimizers/lion.ts';
import { rmspropUpdate } from '../../../optimizers/rmsprop.ts';
import { sgdUpdate } from '../../../optimizers/sgd.ts';
import { bfloat16Storage, type StorageKernels } from '../../../optimizers/slots/packing.ts';
import type { DirectionKernel, UpdateInputs } from '../../../optimizers/update-kernels.ts';
import type { WasmRuntime } from '../kernel.ts';
import type { TensorMemory } from '../memory/tensor-memory.ts';

/** Registers the updates of optimizers that have a kernel, one call per variable. Others are made of ops. */
export function registerUpdateKernels({ kernels, memory }: WasmRuntime): void {
  adamUpdate.register('wasm', (inputs, { beta1, beta2, rate, epsilon, keep, penalty }) => {
    const constants = [beta1, 1 - beta1, beta2, 1 - beta2, rate, epsilon, keep, penalty] as const;
    updateWith(memory, inputs, (gradient, size, [theta, mean, square], [newTheta, newMean, newSquare]) =>
      kernels.updateAdam(theta, gradient, mean, square, size, ...constants, newTheta, newMean, newSquare),
    );
  });
  sgdUpdate.register('wasm', (inputs, { rate, momentum, penalty, nesterov }) => {
    const constants = [rate, momentum, penalty, Number(nesterov)] as const;
    updateWith(memory, inputs, (gradient, size, [theta, velocity = 0], [newTheta, newVelocity = 0]) =>
      kernels.updateSgd(theta, gradient, velocity, size, ...constants, newTheta, newVelocity),
    );
  });
  rmspropUpdate.register('wasm', (inputs, { rho, rate, epsilon, momentum, penalty, centered }) => {
    const constants = [rho, 1 - rho, rate, epsilon, momentum, penalty] as const;
    // Absent slots have the address 0.
    const arrange = ([theta, square, ...others]: number[]): [number, number, number, number] => {
      const [velocity = 0, mean = 0] = centered && others.length === 1 ? [0, others[0]] : others;
      return [theta, square, velocity, mean];
    };
    updateWith(memory, inputs, (gradient, size, old, renewed) =>
      kernels.updateRmsprop(gradient, ...arrange(old), size, ...constants, ...arrange(renewed)),
    );
  });
  lionUpdate.register('wasm', (inputs, { beta1, beta2, rate, keep }) => {
    const constants = [beta1, 1 - beta1, beta2, 1 - beta2, rate, keep] as const;
    updateWith(memory, inputs, (gradient, size, [theta, mean], [newTheta, newMean]) =>
      kernels.updateLion(theta, gradient, mean, size, ...constants, newTheta, newMean),
    );
  });
  lambDirection.register('wasm', createDirection(memory, kernels));
  bfloat16Storage.register('wasm', createStorageKernels(memory, kernels));
}

/** Stochastic rounding to packed bfloat16, and back. */
function createStorageKernels(memory: TensorMemory, kernels: WasmRuntime['kernels']): StorageKernels {
  return {
    pack(values, key, words) {
      const target = memory.isShared(words) ? memory.output(words.shape, 'int32') : words;
      kernels.packBfloat16(memory.address(values), values.size, key, memory.address(target));
      adopt(memory, words, target);
    },
    unpack(words, shape) {
      const values = memory.output(shape);
      kernels.unpackBfloat16(memory.address(words), tf.util.sizeFromShape(shape), memory.address(values));
      return tf.tidy(() => tf.variable(tf.engine().makeTensorFromTensorInfo(values), false));
    },
  };
}

/** The direction of LAMB's update. The variable itself stays as it is: only the slots are updated. */
function createDirection(memory: TensorMemory, kernels: WasmRuntime['kernels']): DirectionKernel<LambConstants> {
  return ({ variable, gradient, slots, row }, { beta1, beta2, scale, epsilon, decay }) => {
    const constants = [beta1, 1 - beta1, beta2, 1 - beta2, scale, epsilon, decay] as const;
    const shape = row === undefined ? variable.shape : [1, ...variable.shape.slice(1)];
    const direction = memory.output(shape);
    const size = tf.util.sizeFromShape(shape);
    const theta = memory.address(variable) + 4 * (row ?? 0) * size;
    const to = memory.address(direction);
    const changed = { gradient, row, variable: slots[0], slots: slots.slice(1) };
    updateWith(memory, changed, (ofGradient, _, [mean, square], [newMean, newSquare]) =>
      kernels.directLamb(theta, ofGradient, mean, square, size, ...constants, to, newMean, newSquare),
    );
    return tf.engine().makeTensorFromTensorInfo(direction);
  };
}

/**
 * Computes new values at some addresses from old ones at others, which may be the same: those of the variable, then of
 * its slots.
 */
type Update = (gradient: number, size: number, old: number[], renewed: number[]) => void;

/** Updates in place, or into new memory where another tensor shares the old values: that saves a copy. */
function updateWith(memory: TensorMemory, { variable, gradient, slots, row }: UpdateInputs, update: Update): void {
  const changed = [variable, ...slots];
  if (row !== undefined) for (const whole of changed) ownData(memory, whole);
  const targets = changed.map((own) => (memory.isShared(own) ? memory.output(own.shape) : own));
  const size = row === undefined ? variable.size : variable.size / variable.shape[0];
  const addressOf = (tensor: TensorInfo): number => memory.address(tensor) + 4 * (row ?? 0) * size;
  update(addressOf(gradient), size, changed.map(addressOf), targets.map(addressOf));
  changed.forEach((own, i) => adopt(memory, own, targets[i]));
}

function adopt(memory: TensorMemory, variable: Variable, target: TensorInfo): void {
  if (target === variable) return memory.changed(variable);
  const renewed: Tensor = tf.engine().makeTensorFromTensorInfo(target);
  variable.assign(renewed);
  renewed.dispose();
}

/** Copies a variable's data if a clone or a reshaped tensor still shares it. */
function ownData(memory: TensorMemory, variable: Variable): void {
  if (memory.isShared(variable)) tf.tidy(() => variable.assign(tf.add(variable, 0)));
}
