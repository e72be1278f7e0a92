import type { RunConfig } from '../../../core/protocol/run/config.ts';
import { tf, type LayersModel, type SymbolicTensor } from '../../../workers/tensorflow/tf.ts';
import type { LossFunction } from '../../../workers/member/member.ts';
import { Generator } from '../../../workers/random/index.ts';
import { dataset, samplesOf } from './ranks.ts';

/** Weights in the order of the model's variables: for each head a kernel `[4, 1]`, then a bias `[1]`. */
export type Weights = number[][];

const headCount = 3;
const inputs = 4;

/**
 * Whether the loss of some samples depends on a head. It always depends on the first, on the second at the steps that
 * `stepMask` names (bit step mod 8), and on the third where a sample has the label 2, which differs between ranks and
 * between micro-batches.
 */
export function isHeadReached(head: number, step: number, labels: ArrayLike<number>, stepMask: number): boolean {
  if (head === 1) return ((stepMask >> (step % 8)) & 1) === 1;
  return head === 0 || Array.from(labels).includes(2);
}

/** Three linear heads y_h = x·w_h + b_h, one output each. */
export function createHeads(seed: number): LayersModel {
  const random = new Generator(seed, 'heads');
  const x = tf.input({ shape: [inputs] });
  const layers = Array.from({ length: headCount }, () => tf.layers.dense({ units: 1 }));
  const model = tf.model({ inputs: x, outputs: layers.map((layer) => layer.apply(x) as SymbolicTensor) });
  for (const layer of layers) {
    const kernel = tf.tensor2d(
      Array.from({ length: inputs }, () => random.normal()),
      [inputs, 1],
    );
    layer.setWeights([kernel, tf.zeros([1])]);
    kernel.dispose();
  }
  return model;
}

/** Σ over the reached heads of mean (y_h − label + h)². */
export function lossOfHeads(stepMask: number): LossFunction {
  return (outputs, targets, { step }) => {
    const labels = targets.dataSync();
    const losses = outputs.flatMap((output, head) => {
      if (!isHeadReached(head, step, labels, stepMask)) return [];
      const wanted = tf.sub(tf.reshape(tf.cast(targets, 'float32'), output.shape), head);
      return [tf.mean(tf.squaredDifference(output, wanted))];
    });
    return tf.addN(losses);
  };
}

interface Gradient {
  loss: number;
  /** Null where the loss does not depend on the weights. */
  gradients: (number[] | null)[];
}

/** Loss and gradient of some samples, in float64: ∂/∂w = 2/n Σ (y − t)·x. */
function gradientOf(weights: Weights, indices: readonly number[], step: number, stepMask: number): Gradient {
  const labels = indices.map((i) => dataset.targets[i]);
  let loss = 0;
  const gradients = Array.from({ length: headCount }, (_, head) => {
    if (!isHeadReached(head, step, labels, stepMask)) return [null, null];
    const kernel = Array.from({ length: inputs }, () => 0);
    let bias = 0;
    indices.forEach((sample, i) => {
      const x = Array.from({ length: inputs }, (_, j) => dataset.features[sample * inputs + j]);
      const y = x.reduce((sum, value, j) => sum + value * weights[2 * head][j], weights[2 * head + 1][0]);
      const error = y - (labels[i] - head);
      loss += error ** 2 / indices.length;
      x.forEach((value, j) => (kernel[j] += (2 * error * value) / indices.length));
      bias += (2 * error) / indices.length;
    });
    return [kernel, [bias]];
  }).flat();
  return { loss, gradients };
}

/**
 * Trains one model on all ranks of a configuration, in float64, from the definitions: the mean gradient over all
 * samples of a step, with micro-batches weighted by their samples. A weight on which no sample's loss depends is
 * skipped with its step count, as PyTorch's optimizers skip a parameter whose gradient is None.
 */
export function trainReference(start: Weights, config: RunConfig, steps: number, stepMask: number): Weights {
  const weights = start.map((values) => [...values]);
  const update = createUpdate(config, weights);
  for (let step = 0; step < steps; step++) update(meanGradient(weights, config, step, stepMask));
  return weights;
}

function meanGradient(weights: Weights, config: RunConfig, step: number, stepMask: number): (number[] | null)[] {
  const sums = weights.map((): number[] | null => null);
  let total = 0;
  for (let rank = 0; rank < config.members; rank++) {
    const indices = [...samplesOf(config, rank, step).indices];
    for (let first = 0; first < indices.length; first += config.batchSize) {
      const part = indices.slice(first, first + config.batchSize);
      total += part.length;
      gradientOf(weights, part, step, stepMask).gradients.forEach((gradient, i) => {
        if (gradient === null) return;
        const before = sums[i] ?? gradient.map(() => 0);
        sums[i] = before.map((sum, j) => sum + part.length * gradient[j]);
      });
    }
  }
  return clipped(
    sums.map((sum) => sum?.map((value) => value / total) ?? null),
    config.optimizer.clipNorm,
  );
}

/** PyTorch's clip_grad_norm_. */
function clipped(gradients: (number[] | null)[], maximum: number): (number[] | null)[] {
  const norm = Math.sqrt(gradients.reduce((sum, g) => (g ?? []).reduce((s, value) => s + value ** 2, sum), 0));
  const factor = maximum === 0 ? 1 : Math.min(1, maximum / (norm + 1e-6));
  return gradients.map((gradient) => gradient?.map((value) => value * factor) ?? null);
}

/** torch.optim's SGD, Adam and AdamW, in float64. */
function createUpdate({ optimizer }: RunConfig, weights: Weights): (gradients: (number[] | null)[]) => void {
  const counts = weights.map(() => 0);
  const first = weights.map((values) => values.map(() => 0));
  const second = weights.map((values) => values.map(() => 0));
  const { learningRate: rate, weightDecay } = optimizer;
  const change = (i: number, j: number, gradient: number): number => {
    const decayed = optimizer.kind === 'adamw' ? gradient : gradient + weightDecay * weights[i][j];
    if (optimizer.kind === 'sgd') return rate * (first[i][j] = optimizer.momentum * first[i][j] + decayed);
    if (!('epsilon' in optimizer) || !('beta1' in optimizer)) throw new Error(`No reference of ${optimizer.kind}.`);
    const { beta1, beta2, epsilon } = optimizer;
    first[i][j] = beta1 * first[i][j] + (1 - beta1) * decayed;
    second[i][j] = beta2 * second[i][j] + (1 - beta2) * decayed ** 2;
    const mean = first[i][j] / (1 - beta1 ** counts[i]);
    const square = second[i][j] / (1 - beta2 ** counts[i]);
    const shrink = optimizer.kind === 'adamw' ? rate * weightDecay * weights[i][j] : 0;
    return shrink + (rate * mean) / (Math.sqrt(square) + epsilon);
  };
  return (gradients) =>
    gradients.forEach((gradient, i) => {
      if (gradient === null) return;
      counts[i] += 1;
      weights[i] = weights[i].map((value, j) => value - change(i, j, gradient[j]));
    });
}
