import { allAxes, logSoftmax, matMul, mean, reshape, sum } from './arrays.ts';
import { add, affine, apply, divide, multiply, subtract } from './elementwise.ts';
import { map, pick, type Value } from './value.ts';

/** The mean of all values, as a scalar. */
export function meanOfAll(x: Value): Value {
  return reshape(mean(x, allAxes(x)), []);
}

/** Mean of −log softmax(z)[label] over logits `[B, K]`. */
export function crossEntropy(logits: Value, labels: readonly number[]): Value {
  const [batch, classes] = logits.shape;
  const chosen = pick(logSoftmax(logits, 1), [batch], (sample) => sample * classes + labels[sample]);
  return meanOfAll(apply('neg', chosen));
}

/** Mean over samples of −Σ_k t_k log softmax(z)_k, targets `[B, K]`. */
export function softmaxCrossEntropy(targets: Value, logits: Value): Value {
  return meanOfAll(apply('neg', sum(multiply(targets, logSoftmax(logits, 1)), [1])));
}

/** Mean of −t log σ(z) − (1 − t) log(1 − σ(z)). */
export function sigmoidCrossEntropy(targets: Value, logits: Value): Value {
  const ofOne = multiply(targets, apply('logSigmoid', logits));
  const ofZero = multiply(affine(targets, -1, 1), apply('logSigmoid', apply('neg', logits)));
  return meanOfAll(apply('neg', add(ofOne, ofZero)));
}

/** Mean of log σ² + (y − μ)² / σ². */
export function gaussianNll(mu: Value, sigmaSquared: Value, targets: Value): Value {
  const error = apply('square', subtract(mu, reshape(targets, mu.shape)));
  return meanOfAll(add(apply('log', sigmaSquared), divide(error, sigmaSquared)));
}

export function meanSquaredError(targets: Value, predictions: Value): Value {
  return meanOfAll(apply('square', subtract(predictions, targets)));
}

export function absoluteDifference(targets: Value, predictions: Value): Value {
  return meanOfAll(apply('abs', subtract(predictions, targets)));
}

/** Mean of e²/2 within |e| ≤ δ, and of δ(|e| − δ/2) beyond (Huber, 1964). */
export function huber(targets: Value, predictions: Value, delta = 1): Value {
  return meanOfAll(
    map(
      subtract(predictions, targets),
      (e) => (Math.abs(e) <= delta ? (e * e) / 2 : delta * (Math.abs(e) - delta / 2)),
      (e) => Math.max(-delta, Math.min(delta, e)),
    ),
  );
}

/** Mean of −t log(p + ε) − (1 − t) log(1 − p + ε). */
export function logLoss(targets: Value, predictions: Value, epsilon = 1e-7): Value {
  const ofOne = multiply(targets, apply('log', affine(predictions, 1, epsilon)));
  const ofZero = multiply(affine(targets, -1, 1), apply('log', affine(predictions, -1, 1 + epsilon)));
  return meanOfAll(apply('neg', add(ofOne, ofZero)));
}

/** Mean over samples of 1 − Σ t p, of vectors `[B, K]`. */
export function cosineDistance(targets: Value, predictions: Value): Value {
  const [batch, width] = predictions.shape;
  const products = matMul(reshape(targets, [batch, 1, width]), reshape(predictions, [batch, width, 1]));
  return meanOfAll(affine(products, -1, 1));
}
