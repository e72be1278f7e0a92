import { crossEntropyLoss, gaussianNllLoss } from '../../../../workers/training/tasks.ts';
import { tf, type Tensor } from '../../../../workers/tf.ts';
import { opCase, type OpCase } from './op-case.ts';

/** A loss of predictions against targets of the same shape, both in (0, 1). */
function lossCase(op: string, loss: (targets: Tensor, predictions: Tensor) => Tensor): OpCase {
  return opCase(`losses.${op}`, (random) => {
    const shape = random.shape(2, 2, 12);
    const targets = random.uniform(shape, 0.1, 0.9);
    return {
      inputs: [random.uniform(shape, 0.1, 0.9)],
      apply: ([predictions]) => loss(tf.tensor(targets.data, shape), predictions),
    };
  });
}

const crossEntropy = opCase('cross-entropy', (random) => {
  const [batch, classes] = [random.integer(1, 20), random.integer(2, 12)];
  const labels = random.integers(batch, classes);
  return {
    inputs: [random.normal([batch, classes])],
    apply: ([logits]) => crossEntropyLoss(logits, tf.tensor1d(labels, 'int32')),
  };
});

const gaussianNll = opCase('Gaussian NLL', (random) => {
  const batch = random.integer(1, 20);
  const targets = random.normal([batch]);
  return {
    inputs: [random.normal([batch, 1]), random.uniform([batch, 1], 0.2, 2)],
    apply: ([mean, variance]) => gaussianNllLoss(mean, variance, tf.tensor1d(targets.data)),
  };
});

export const lossCases: readonly OpCase[] = [
  crossEntropy,
  gaussianNll,
  lossCase('meanSquaredError', tf.losses.meanSquaredError),
  lossCase('absoluteDifference', tf.losses.absoluteDifference),
  lossCase('huberLoss', tf.losses.huberLoss),
  lossCase('logLoss', tf.losses.logLoss),
  lossCase('sigmoidCrossEntropy', tf.losses.sigmoidCrossEntropy),
  lossCase('softmaxCrossEntropy', tf.losses.softmaxCrossEntropy),
  lossCase('cosineDistance', (targets, predictions) => tf.losses.cosineDistance(targets, predictions, 1)),
];
