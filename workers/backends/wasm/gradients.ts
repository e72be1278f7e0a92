import type { GradConfig, NamedAttrMap, NamedTensorMap } from '@tensorflow/tfjs-core';
import { tf, type Tensor } from '../../tensorflow/tf.ts';

/**
 * Gradients that Tutti's kernels compute in one call. TensorFlow.js has one gradient for all backends, so the original
 * gradient stays in use on other backends and when the gradient's own gradient is needed.
 */
export function registerGradients(): void {
  if (tf.getGradient('CrossEntropy') !== undefined) return;
  for (const op of Object.values(activations)) {
    preferKernel(op, `${op}Gradient`, (dy, [x]) => ({ x: () => run(`${op}Gradient`, { x, dy }) }));
  }
  for (const gradient of gradients) tf.registerGradient(gradient);
  reduceBroadcastProducts();
}

/** Gradients of the ops that Tutti adds. */
const gradients: readonly GradConfig[] = [
  ...['Gelu', 'Swish'].map((kernelName) => ({
    kernelName,
    outputsToSave: [false, true],
    gradFunc: (dy: Tensor | Tensor[], [slope]: Tensor[]) => ({ x: () => tf.mul((dy as Tensor[])[0], slope) }),
  })),
  {
    kernelName: 'Dense',
    inputsToSave: ['x', 'kernel'],
    outputsToSave: [true],
    gradFunc: (dy, [x, kernel, y], attributes) => gradientOfDense(dy as Tensor, x, kernel, y, attributes),
  },
  {
    kernelName: 'CrossEntropy',
    inputsToSave: ['logits', 'labels'],
    gradFunc: (dy, [logits, labels]) => ({
      logits: () => run('CrossEntropyGradient', { logits, labels, dy: dy as Tensor }),
    }),
  },
  {
    kernelName: 'GaussianNll',
    inputsToSave: ['mean', 'variance', 'targets'],
    gradFunc: (dy, [mean, variance, targets]) => {
      const inputs = { mean, variance, targets, dy: dy as Tensor };
      return {
        mean: () => run('GaussianNllGradient', inputs, { ofVariance: false }),
        variance: () => run('GaussianNllGradient', inputs, { ofVariance: true }),
      };
    },
  },
  ...['NormalizeBatch', 'NormalizeRows'].map((kernelName) => ({
    kernelName,
    inputsToSave: ['x', 'gamma'],
    outputsToSave: [false, true, true],
    gradFunc: (dy: Tensor | Tensor[], saved: Tensor[], attributes: NamedAttrMap) =>
      gradientOfNormalization(`${kernelName}Gradient`, dy, saved, attributes),
  })),
];

/** The activations' ops, by the layers' names for them. Each has a kernel for its gradient. */
const activations: Record<string, string> = { relu: 'Relu', sigmoid: 'Sigmoid', tanh: 'Tanh' };

/**
 * With s = x W + b and y = act(s): ds from y and dy, then dx = ds Wᵀ, dW = xᵀ ds, db = Σ ds. Each is computed only when
 * requested.
 */
function gradientOfDense(dy: Tensor, x: Tensor, kernel: Tensor, y: Tensor, { activation }: NamedAttrMap) {
  const ds = activation === 'linear' ? dy : run(`${activations[activation as string]}Gradient`, { x: y, dy });
  return {
    x: () => run('BatchMatMul', { a: ds, b: kernel }, { transposeA: false, transposeB: true }),
    kernel: () => run('BatchMatMul', { a: x, b: ds }, { transposeA: true, transposeB: false }),
    bias: () => run('Sum', { x: ds }, { axis: [0], keepDims: false }),
  };
}

/** One call computes all three gradients. The statistics need none. */
function gradientOfNormalization(
  kernel: string,
  dy: Tensor | Tensor[],
  [x, gamma, mean, spread]: Tensor[],
  attributes: NamedAttrMap,
) {
  const inputs = { x, gamma, mean, spread, dy: (dy as Tensor[])[0] };
  const gradients = tf.engine().runKernel(kernel, inputs, attributes) as unknown as Tensor[];
  return { x: () => gradients[0], gamma: () => gradients[1], beta: () => gradients[2] };
}

type Gradient = (dy: Tensor, saved: Tensor[], attributes: NamedAttrMap) => Record<string, () => Tensor>;

function run(kernel: string, inputs: NamedTensorMap, attributes?: NamedAttrMap): Tensor {
  return tf.engine().runKernel(kernel, inputs, attributes);
}

function preferKernel(op: string, kernel: string, gradient: Gradient): void {
  replaceGradient(op, (stock) => (dy, saved, attributes) => {
    const isPlain = tf.getKernel(kernel, tf.getBackend()) !== undefined && !tf.engine().isTapeOn();
    return (isPlain ? gradient : stock)(dy, saved, attributes);
  });
}

/** tfjs's gradient of a product has the broadcast shape, which is wrong for a broadcast operand. */
function reduceBroadcastProducts(): void {
  replaceGradient('BatchMatMul', (stock) => (dy, saved, attributes) => {
    const whole = stock(dy, saved, attributes);
    const reduced =
      (name: 'a' | 'b', { shape }: Tensor) =>
      () => {
        const gradient = whole[name]();
        if (gradient.shape.join() === shape.join()) return gradient;
        return tf.reshape(tf.sum(gradient, tf.broadcast_util.getReductionAxes(shape, gradient.shape)), shape);
      };
    return { a: reduced('a', saved[0]), b: reduced('b', saved[1]) };
  });
}

function replaceGradient(op: string, replace: (stock: Gradient) => Gradient): void {
  const config = tf.getGradient(op) as GradConfig | undefined;
  if (config === undefined) throw new Error(`tfjs-core has no gradient of "${op}": is its version the pinned one?`);
  tf.unregisterGradient(op);
  tf.registerGradient({ ...config, gradFunc: replace(config.gradFunc) as GradConfig['gradFunc'] });
}
