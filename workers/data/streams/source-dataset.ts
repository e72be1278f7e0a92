import { createDataset, type Dataset } from '../dataset.ts';
import type { OpenStream, SampleSource } from './sources.ts';

/** A data set of a source: all but the features is in memory. */
export function createSourceDataset(
  fields: Omit<Dataset, 'length' | 'features' | 'featureShape' | 'source'> & { source: SampleSource },
): Dataset {
  const { source } = fields;
  const features = source.type === 'uint8' ? new Uint8Array(0) : new Float32Array(0);
  return createDataset({ ...fields, featureShape: source.featureShape, features });
}

/** Reads all features of a data set into memory. */
export async function loadDataset(dataset: Dataset): Promise<Dataset> {
  const { source, ...others } = dataset;
  if (source === undefined) return dataset;
  const indices = Int32Array.from({ length: dataset.length }, (_, i) => i);
  return createDataset({ ...others, features: await readChecked(dataset.name, source, indices) });
}

/** Reads samples of a source. @throws Error where a project's source does not return what it must */
export async function readChecked(name: string, source: SampleSource, indices: Int32Array) {
  const values = await source.read(indices);
  const expected = indices.length * source.featureShape.reduce((size, dimension) => size * dimension, 1);
  const isOfType = source.type === 'uint8' ? values instanceof Uint8Array : values instanceof Float32Array;
  if (isOfType && values.length === expected) return values;
  throw new Error(
    `Data set "${name}": read() of its source returned ${values.length} values (${values.constructor.name}) for ` +
      `${indices.length} samples of shape [${source.featureShape.join(', ')}]. Return ${expected} values of type ` +
      `${source.type}.`,
  );
}

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
