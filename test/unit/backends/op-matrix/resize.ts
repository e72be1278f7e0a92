import { tf, type Tensor } from '../../../../workers/tf.ts';

/** Images `[B, h, w, C]` resized by products with `rows` `[H, h]` and `columns` `[W, w]`: `[B, H, W, C]`. */
export function resizeByWeights(x: Tensor, rows: number[][], columns: number[][]): Tensor {
  const [batch, height, width, channels] = x.shape;
  const tall = tf.matMul(tf.tensor3d([rows]), tf.reshape(x, [batch, height, width * channels]));
  const wide = tf.matMul(tf.tensor3d([columns]), tf.reshape(tall, [batch * rows.length, width, channels]));
  return tf.reshape(wide, [batch, rows.length, columns.length, channels]);
}

/** The value at i · from / to, rounded down. */
export function nearestWeights(from: number, to: number): number[][] {
  return weightsOf(from, to, (position) => [[Math.floor(position), 1]]);
}

/** Between the two values around i · from / to; the last stands for what lies beyond it. */
export function linearWeights(from: number, to: number): number[][] {
  return weightsOf(from, to, (position) => {
    const low = Math.floor(position);
    return [
      [low, 1 - (position - low)],
      [Math.min(low + 1, from - 1), position - low],
    ];
  });
}

function weightsOf(from: number, to: number, parts: (position: number) => [number, number][]): number[][] {
  return Array.from({ length: to }, (_, i) => {
    const row = Array.from({ length: from }, () => 0);
    for (const [index, weight] of parts((i * from) / to)) row[index] += weight;
    return row;
  });
}
