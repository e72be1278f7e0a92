import { createDataset, type Dataset } from '../dataset.ts';
import type { SampleSource } from './source.ts';

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
