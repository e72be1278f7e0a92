import { type BatchSource, ownBatches } from '../batches.ts';
import type { Dataset } from '../dataset.ts';
import { SourceBatches } from './source-batches.ts';
import { StreamBatches } from './stream-batches.ts';
import type { StreamReader } from './stream.ts';

/** Batches of a data set, in memory, on disk or of a stream. */
export function openBatches(dataset: Dataset, who: StreamReader = { seed: 0, rank: 0 }): BatchSource {
  const { source, stream } = dataset;
  if (stream !== undefined) return new StreamBatches(dataset, stream, who);
  return source === undefined ? ownBatches(dataset) : new SourceBatches(dataset, source);
}
