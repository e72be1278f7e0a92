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
