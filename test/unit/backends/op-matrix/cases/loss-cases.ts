import { crossEntropyLoss, gaussianNllLoss } from '../../../../../workers/member/tasks.ts';
import { tf, type Tensor } from '../../../../../workers/tensorflow/tf.ts';
import * as losses from '../../../../reference/losses.ts';
import { Value } from '../../../../reference/value.ts';
import { opCase, type OpCase } from '../op-case.ts';

/** A loss of predictions against targets of the same shape, both in (0, 1). */
function lossCase(
  op: string,
  loss: (targets: Tensor, predictions: Tensor) => Tensor,
  reference: (targets: Value, predictions: Value) => Value,
): OpCase {
  return opCase(`losses.${op}`, (random) => {
    const shape = random.shape(2, 2, 12);
    const targets = random.uniform(shape, 0.1, 0.9);
    return {
      inputs: [random.uniform(shape, 0.1, 0.9)],
      apply: ([predictions]) => loss(tf.tensor(targets.data, shape), predictions),
      reference: ([predictions]) => reference(new Value(targets.data, shape), predictions),
    };
  });
}

const crossEntropy = opCase('cross-entropy', (random) => {
  const [batch, classes] = [random.integer(1, 20), random.integer(2, 12)];
  const labels = random.integers(batch, classes);
  return {
    inputs: [random.normal([batch, classes])],
    apply: ([logits]) => crossEntropyLoss(logits, tf.tensor1d(labels, 'int32')),
    reference: ([logits]) => losses.crossEntropy(logits, labels),
  };
});

const gaussianNll = opCase('Gaussian NLL', (random) => {
  const batch = random.integer(1, 20);
  const targets = random.normal([batch]);
  return {
    inputs: [random.normal([batch, 1]), random.uniform([batch, 1], 0.2, 2)],
    apply: ([mean, variance]) => gaussianNllLoss(mean, variance, tf.tensor1d(targets.data)),
    reference: ([mean, variance]) => losses.gaussianNll(mean, variance, new Value(targets.data, [batch])),
  };
});

/** Targets that sum to 1, as TensorFlow.js's gradient assumes. */
const softmaxCrossEntropy = opCase('losses.softmaxCrossEntropy', (random) => {
  const [batch, classes] = [random.integer(1, 12), random.integer(1, 12)];
  const drawn = random.uniform([batch, classes], 0.1, 0.9).data;
  const sumOf = (row: number): number => drawn.subarray(row * classes, (row + 1) * classes).reduce((a, b) => a + b);
  const targets = drawn.map((value, i) => value / sumOf(Math.floor(i / classes)));
  return {
    inputs: [random.normal([batch, classes])],
    apply: ([logits]) => tf.losses.softmaxCrossEntropy(tf.tensor(targets, [batch, classes]), logits),
    reference: ([logits]) => losses.softmaxCrossEntropy(new Value(targets, [batch, classes]), logits),
  };
});

export const lossCases: readonly OpCase[] = [
  crossEntropy,
  gaussianNll,
  lossCase('meanSquaredError', tf.losses.meanSquaredError, losses.meanSquaredError),
  lossCase('absoluteDifference', tf.losses.absoluteDifference, losses.absoluteDifference),
  lossCase('huberLoss', tf.losses.huberLoss, losses.huber),
  lossCase('logLoss', tf.losses.logLoss, losses.logLoss),
  lossCase('sigmoidCrossEntropy', tf.losses.sigmoidCrossEntropy, losses.sigmoidCrossEntropy),
  softmaxCrossEntropy,
  lossCase(
    'cosineDistance',
    (targets, predictions) => tf.losses.cosineDistance(targets, predictions, 1),
    losses.cosineDistance,
  ),
];
