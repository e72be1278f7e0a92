import { tf, type Tensor } from '../../../tensorflow/tf.ts';
import type { TensorMemory } from './tensor-memory.ts';

/** Private members of tfjs-core's engine. It calls `clone` only for tensors that a gradient will need. */
interface EngineInternals {
  clone(tensor: Tensor): Tensor;
  makeTensorFromTensorInfo(info: object): Tensor;
  state: { gradientDepth: number };
}

/**
 * Makes the tape save a tensor by sharing its data. The engine would run and record an Identity op for each saved tensor, which only gradients of
 * gradients need: half of the ops of a small step. Nested gradients still use it.
 */
export function saveTensorsCheaply(memory: TensorMemory): void {
  const engine = tf.engine() as unknown as EngineInternals;
  const recordedClone = engine.clone.bind(engine);
  engine.clone = (tensor) => {
    const isOwn = tf.getBackend() === 'wasm' && tensor.dtype !== 'string' && tensor.dtype !== 'complex64';
    if (!isOwn || engine.state.gradientDepth > 1 || !memory.holds(tensor)) return recordedClone(tensor);
    return engine.makeTensorFromTensorInfo(memory.share(tensor));
  };
}
