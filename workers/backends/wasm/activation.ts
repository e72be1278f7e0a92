import { tf } from '../../tf.ts';
import { required, requireFloats } from './inputs.ts';
import type { Kernel } from './kernel.ts';

export const activationKernels: Record<string, Kernel> = {
  /** dx of dy, given y = ReLU(x); `gradients.ts` asks for it. */
  ReluGrad: ({ memory, kernels }, inputs) => {
    const [dy, y] = [required(inputs, 'dy'), required(inputs, 'y')];
    requireFloats('relu', dy, y);
    const output = memory.output(dy.shape);
    const [gradients, values, target] = [dy, y, output].map((tensor) => memory.address(tensor));
    kernels.reluGradient(gradients, values, target, tf.util.sizeFromShape(dy.shape));
    return output;
  },
  /** x where it is positive, else alpha · x. tfjs's own keeps alpha as it first was, and alpha is trained. */
  Prelu: (runtime, inputs) => {
    const [x, alpha] = [required(inputs, 'x'), required(inputs, 'alpha')];
    const { memory } = runtime;
    const call = (name: string, a: typeof x, b?: typeof x): typeof x => {
      const kernel = tf.getKernel(name, 'wasm');
      if (kernel === undefined)
        throw new Error(`The wasm backend has no kernel ${name}: is its version the pinned one?`);
      const named = b === undefined ? { x: a } : { a, b };
      return kernel.kernelFunc({ inputs: named, backend: memory.backend }) as typeof x;
    };
    // relu(x) − alpha · relu(−x)
    const negated = call('Neg', x);
    const negative = call('Relu', negated);
    const scaled = call('Multiply', negative, alpha);
    const positive = call('Relu', x);
    const output = call('Sub', positive, scaled);
    for (const part of [negated, negative, scaled, positive]) memory.dispose(part);
    return output;
  },
};
