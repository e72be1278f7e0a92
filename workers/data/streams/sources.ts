/** Samples with random access that stay on disk. It must give the same values each time, in any order. */
export interface SampleSource {
  /** Number of samples, N. */
  readonly length: number;
  /** Shape of one sample, channels last. */
  readonly featureShape: readonly number[];
  /** Type of the values. A byte `v` stands for `v / 255`. */
  readonly type: 'uint8' | 'float32';
  /**
   * Reads samples; several reads may be under way at a time.
   * @returns raw values `[indices.length, ...featureShape]` in the order of `indices`, in new memory
   */
  read(indices: Int32Array): Promise<Uint8Array | Float32Array>;
}

/** Samples of a stream, any number n at a time; arrays as those of a data set in memory. */
export interface StreamSamples {
  /** Raw values, `[n, ...featureShape]`. */
  features: Float32Array | Uint8Array;
  /** Class labels or values. */
  targets: Int32Array | Float32Array;
  /** Weight of each sample's loss, `[n]`. */
  weights?: Float32Array | undefined;
  /** 1 for each value of the targets that counts, else 0. */
  mask?: Uint8Array | undefined;
}

/** Who reads a stream. */
export interface StreamReader {
  /** The rank's seed, or that of all ranks where they train on the same batches. */
  seed: number;
  /** The rank; 0 for all ranks where they train on the same batches. */
  rank: number;
}

/** What a stream is opened for. */
export interface StreamContext extends StreamReader {
  /** Counted from 0. */
  epoch: number;
}

/**
 * Opens a stream of an epoch's samples. It must give the same samples each time that it is opened for the same epoch,
 * seed and rank.
 */
export type OpenStream = (context: StreamContext) => AsyncIterable<StreamSamples> | Iterable<StreamSamples>;

/** A data set whose samples come one after the other. */
export interface SampleStream {
  /** Samples of an epoch, N. */
  readonly length: number;
  readonly open: OpenStream;
}
