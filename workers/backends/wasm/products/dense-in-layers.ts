import { tf, type Tensor } from '../../../tensorflow/tf.ts';
import { isInNestedGradient } from '../nested-gradient.ts';

/** What is private in tfjs-layers' dense layer. */
interface Dense {
  activation: { getClassName(): string; apply(x: Tensor): Tensor };
  kernel: { read(): Tensor };
  bias?: { read(): Tensor } | null;
  invokeCallHook(inputs: Tensor | Tensor[], options: object): void;
  call: (this: Dense, inputs: Tensor | Tensor[], options: object) => Tensor;
}

/** Activations that the op computes, and whose gradients it knows. */
const fused = new Set(['linear', 'relu', 'sigmoid', 'tanh']);

/**
 * Lets dense layers compute with one op, whose gradients are one op each, where the backend has it. What tfjs composes a layer of
 * (sixteen ops for a sigmoid layer and its gradients, which are five here) takes a small network longer than its arithmetic.
 */
export function denseInLayers(): void {
  const layers = Object.getPrototypeOf(tf.layers.dense({ units: 1 })) as Dense;
  const { call } = layers;
  layers.call = function computeOrCall(this: Dense, inputs, options) {
    const x = Array.isArray(inputs) ? inputs[0] : inputs;
    const hasKernel = tf.getKernel('Dense', tf.getBackend()) !== undefined && !isInNestedGradient();
    if (x.rank !== 2 || x.dtype !== 'float32' || !hasKernel) return call.call(this, inputs, options);
    this.invokeCallHook(inputs, options);
    return compute(this, x);
  };
}

function compute({ activation, kernel, bias }: Dense, x: Tensor): Tensor {
  const inputs = { x, kernel: kernel.read(), ...(bias ? { bias: bias.read() } : {}) };
  const run = (name: string): Tensor => tf.engine().runKernel('Dense', inputs, { activation: name });
  const name = activation.getClassName();
  return fused.has(name) ? run(name) : tf.tidy(() => activation.apply(run('linear')));
}
