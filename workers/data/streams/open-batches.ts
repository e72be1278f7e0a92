import { type BatchSource, ownBatches } from '../batches.ts';
import type { Dataset } from '../dataset.ts';
import { SourceBatches } from './source-batches.ts';

/** Batches of a data set, in memory or on disk. */
export function openBatches(dataset: Dataset): BatchSource {
  return dataset.source === undefined ? ownBatches(dataset) : new SourceBatches(dataset, dataset.source);
}
