import { createDataset, type Dataset } from '../dataset.ts';
import type { OpenStream } from './stream.ts';

/** A training split whose samples come one after the other, in batches of any size. */
export interface StreamOptions extends Pick<
  Dataset,
  'name' | 'featureShape' | 'targetShape' | 'classNames' | 'classCount' | 'normalization'
> {
  /** Samples of an epoch, N. A stream that has more goes no further, so it may be endless. */
  length: number;
  /** Type of the features; float32 by default. A byte `v` stands for `v / 255`. */
  type?: 'uint8' | 'float32';
  /**
   * Called at the start of each epoch, and again where a resumed run continues within one, such as a generator
   * function. Must give the same samples for the same epoch, seed and rank.
   */
  batches: OpenStream;
}

/**
 * A training split for more data than memory has room for, without access to single samples: only the batches that come
 * next are in memory. Targets are class labels if there are classes, else values. Its order is that of the stream, so
 * shuffle there, with the seed of its argument.
 */
export function createStreamDataset({ length, type = 'float32', batches, ...fields }: StreamOptions): Dataset {
  const hasClasses = fields.classCount !== undefined || fields.classNames !== undefined;
  return createDataset({
    ...fields,
    features: type === 'uint8' ? new Uint8Array(0) : new Float32Array(0),
    targets: hasClasses ? new Int32Array(0) : new Float32Array(0),
    stream: { length, open: batches },
  });
}
