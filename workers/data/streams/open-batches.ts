import { type BatchPosition, type BatchSource, ownBatches } from '../batches.ts';
import { type Batch, type Dataset, gatherBatch } from '../dataset.ts';
import { StreamBatches } from './stream-batches.ts';
import type { SampleSource, StreamReader } from './sources.ts';
import { gatherExtras, gatherRows } from '../fields.ts';
import type { Sampler } from '../samplers.ts';
import { readChecked } from './source-dataset.ts';

/** Batches of a data set, in memory, on disk or of a stream. */
export function openBatches(dataset: Dataset, who: StreamReader = { seed: 0, rank: 0 }): BatchSource {
  const { source, stream } = dataset;
  if (stream !== undefined) return new StreamBatches(dataset, stream, who);
  return source === undefined ? ownBatches(dataset) : new SourceBatches(dataset, source);
}

/** Batches that are read while earlier ones train. Memory: this many batches of raw values, and the one that trains. */
const batchesAhead = 3;

interface Read {
  indices: Int32Array;
  batch: Promise<Batch>;
}

/**
 * Batches of a data set on disk. Once they follow a sampler, they read the next batches while the present one trains.
 */
class SourceBatches implements BatchSource {
  readonly isLockstep = false;
  readonly length: number;
  private readonly dataset: Dataset;
  private readonly source: SampleSource;
  private sampler: Sampler | null = null;
  private ahead: Read[] = [];
  private upcoming: Iterator<Int32Array> | null = null;

  constructor(dataset: Dataset, source: SampleSource) {
    this.dataset = dataset;
    this.source = source;
    this.length = dataset.length;
  }

  follow(sampler: Sampler): void {
    this.sampler = sampler;
  }

  async batch(indices: Int32Array, at: BatchPosition): Promise<Batch> {
    if (this.sampler === null) return this.read(indices);
    const [first] = this.ahead;
    const isExpected = this.ahead.length > 0 && isSame(first.indices, indices);
    // At the start, and where a batch is repeated after a resume, the queue begins anew.
    if (!isExpected) this.beginAt(this.sampler, at);
    this.fill();
    const next = this.ahead.shift();
    if (next === undefined || !isSame(next.indices, indices)) return this.read(indices);
    const batch = await next.batch;
    this.fill();
    return batch;
  }

  private beginAt(sampler: Sampler, at: BatchPosition): void {
    this.ahead = [];
    this.upcoming = batchesFrom(sampler, at);
  }

  private fill(): void {
    while (this.upcoming !== null && this.ahead.length < batchesAhead) {
      const { value, done } = this.upcoming.next();
      if (done === true) return;
      const batch = this.read(value);
      // It is awaited when its turn comes, which may be after it has failed.
      batch.catch(() => undefined);
      this.ahead.push({ indices: value, batch });
    }
  }

  private async read(indices: Int32Array): Promise<Batch> {
    const { source: _, ...others } = this.dataset;
    const { name, length, targets } = others;
    const samples: Dataset = {
      ...others,
      length: indices.length,
      features: indices.length === 0 ? others.features : await readChecked(name, this.source, indices),
      targets: gatherRows(targets, length, indices),
      ...gatherExtras(others, length, indices),
    };
    return gatherBatch(
      samples,
      indices.map((_, i) => i),
    );
  }
}

function isSame(first: Int32Array, second: Int32Array): boolean {
  return first.length === second.length && first.every((index, i) => index === second[i]);
}

/** The batches from a position on, epoch after epoch. */
function* batchesFrom(sampler: Sampler, { epoch, batch }: BatchPosition): Generator<Int32Array> {
  for (let ofEpoch = epoch; ; ofEpoch++) {
    let index = 0;
    for (const indices of sampler.batches(ofEpoch)) if (ofEpoch > epoch || index++ >= batch) yield indices;
  }
}
