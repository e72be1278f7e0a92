import { tf, type Tensor } from '../../../tensorflow/tf.ts';
import type { TensorMemory } from './tensor-memory.ts';

/** What is private in tfjs-core's engine: `clone` is called for tensors that a gradient will need, and for nothing else. */
interface EngineInternals {
  clone(tensor: Tensor): Tensor;
  makeTensorFromTensorInfo(info: object): Tensor;
  state: { gradientDepth: number };
}

/**
 * Lets the tape save a tensor by another name for its data. The engine itself runs an Identity op for each and records it, so that
 * gradients of gradients find their way; half of a small step's ops were these. Under nested gradients it still does so.
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
