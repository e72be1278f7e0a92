import { beforeAll, describe, expect, it } from 'vitest';
import { tf, type Tensor } from '../../../../workers/tensorflow/tf.ts';
import { expectClose, startSubject, subjects } from '../definitions/compare.ts';

/** Values in [0.5, 1.5), the same each time. Sums of positive values reveal every lost digit. */
function positive(length: number): Float32Array<ArrayBuffer> {
  let state = 7;
  return Float32Array.from({ length }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return 0.5 + (state >>> 9) / 2 ** 23;
  });
}

/** Σ over rows of f(row, column) for each column, in float64. */
function columnSums(rows: number, columns: number, f: (row: number, column: number) => number): Float64Array {
  const sums = new Float64Array(columns);
  for (let i = 0; i < rows; i++) for (let j = 0; j < columns; j++) sums[j] += f(i, j);
  return sums;
}

/** The multiple of float32's 6e-8 that is allowed in sums of any length. */
const tolerance = 3e-7;

const valuesOf = (compute: () => Tensor): ArrayLike<number> => tf.tidy(() => compute().dataSync());

describe.each(subjects)('on %s, long sums keep their precision', (subject) => {
  beforeAll(() => startSubject(subject));

  it.each([1, 3, 4, 17])('over the first axis, of %i columns', (columns) => {
    const rows = columns > 4 ? 2 ** 14 + 5 : 2 ** 16 + 5;
    const x = positive(rows * columns);
    const sums = columnSums(rows, columns, (i, j) => x[i * columns + j]);
    const tensor = tf.tensor2d(x, [rows, columns]);
    expectClose(
      'sum',
      valuesOf(() => tf.sum(tensor, 0)),
      sums,
      tolerance,
    );
    expectClose(
      'mean',
      valuesOf(() => tf.mean(tensor, 0)),
      sums.map((sum) => sum / rows),
      tolerance,
    );
    tensor.dispose();
  });

  it('over the last axis, and over all', () => {
    const size = 2 ** 18 + 3;
    const x = positive(2 * size);
    const sums = columnSums(size, 2, (i, j) => x[j * size + i]);
    const tensor = tf.tensor2d(x, [2, size]);
    expectClose(
      'sum',
      valuesOf(() => tf.sum(tensor, 1)),
      sums,
      tolerance,
    );
    expectClose(
      'mean',
      valuesOf(() => tf.mean(tensor)),
      [(sums[0] + sums[1]) / 2 / size],
      tolerance,
    );
    tensor.dispose();
  });

  it('of gradients of broadcast operands and of an embedding', () => {
    const [rows, columns] = [2 ** 15 + 1, 3];
    const x = positive(rows * columns);
    const dy = tf.tensor2d(x, [rows, columns]);
    const ofBias = tf.grad((bias) => tf.add(tf.zeros([rows, columns]), bias));
    const expected = columnSums(rows, columns, (i, j) => x[i * columns + j]);
    expectClose(
      'bias',
      valuesOf(() => ofBias(tf.zeros([columns]), dy)),
      expected,
      tolerance,
    );
    const ids = tf.tidy(() => tf.cast(tf.mod(tf.range(0, rows), 2), 'int32'));
    const found = valuesOf(() => tf.unsortedSegmentSum(dy, ids as never, 3));
    const [even, odd] = [0, 1].map((rest) =>
      columnSums(rows, columns, (i, j) => (i % 2 === rest ? x[i * columns + j] : 0)),
    );
    expectClose('segments', found, [...even, ...odd, 0, 0, 0], tolerance);
    tf.dispose([dy, ids]);
  });

  it('of a depthwise filter’s gradient', () => {
    const [side, channels] = [200, 2];
    const x = positive(side * side * channels);
    const images = tf.tensor4d(x, [1, side, side, channels]);
    const gradient = tf.grad((filter) => tf.depthwiseConv2d(images, filter as never, 1, 'valid'));
    const expected = columnSums(side * side, channels, (i, j) => x[i * channels + j]);
    const found = valuesOf(() => gradient(tf.zeros([1, 1, channels, 1]), tf.ones([1, side, side, channels])));
    expectClose('filter', found, expected, tolerance);
    images.dispose();
  });

  it('of batch normalisation, in training', () => {
    const [rows, columns] = [2 ** 14 + 9, 5];
    const x = positive(rows * columns).map((value) => value + 3);
    const means = columnSums(rows, columns, (i, j) => x[i * columns + j]).map((sum) => sum / rows);
    const variances = columnSums(rows, columns, (i, j) => (x[i * columns + j] - means[j]) ** 2).map(
      (sum) => sum / rows,
    );
    const layer = tf.layers.batchNormalization({ momentum: 0, epsilon: 1e-3 });
    const input = tf.tensor2d(x, [rows, columns]);
    const dy = tf.tensor2d(positive(rows * columns).toReversed(), [rows, columns]);
    layer.apply(input, { training: true });
    const [gamma, beta, mean, variance] = layer.getWeights();
    expectClose('mean', mean.dataSync(), means, tolerance);
    expectClose('variance', variance.dataSync(), variances, 2e-6);
    const slopes = dy.dataSync();
    const ofBeta = columnSums(rows, columns, (i, j) => slopes[i * columns + j]);
    const ofGamma = columnSums(
      rows,
      columns,
      (i, j) => (slopes[i * columns + j] * (x[i * columns + j] - means[j])) / Math.sqrt(variances[j] + 1e-3),
    );
    const loss = (): Tensor => tf.sum(tf.mul(layer.apply(input, { training: true }) as Tensor, dy));
    const { grads } = tf.variableGrads(
      loss as never,
      layer.trainableWeights.map((weight) => weight.read() as never),
    );
    const [byGamma, byBeta] = layer.trainableWeights.map(
      (weight) => grads[(weight.read() as unknown as { name: string }).name],
    );
    expect([gamma.shape, beta.shape]).toEqual([[columns], [columns]]);
    expectClose('beta', byBeta.dataSync(), ofBeta, tolerance);
    // Terms of both signs cancel to a thousandth of their magnitude. The mean subtracted from x has an error of 6e-8 of
    // it.
    expectClose('gamma', byGamma.dataSync(), ofGamma, 5e-3);
    tf.dispose([input, dy]);
  });
});
