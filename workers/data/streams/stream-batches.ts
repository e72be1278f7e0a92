import { countEpoch } from '../../../core/text/numbers.ts';
import type { BatchPosition, BatchSource } from '../batches.ts';
import { type Batch, createDataset, type Dataset, gatherBatch, valuesPerTarget } from '../dataset.ts';
import { type Extras, gatherRows } from '../fields.ts';
import type { SampleStream, StreamReader, StreamSamples } from './sources.ts';

/** Batches that are decoded while earlier ones train. */
const batchesAhead = 3;

/** An epoch of a stream that is being read. */
interface OpenEpoch {
  epoch: number;
  samples: AsyncIterator<StreamSamples> | Iterator<StreamSamples>;
  /** Samples that were read, and belong to no batch yet. */
  rest: Dataset | null;
  /** Samples that were given out, or skipped. */
  given: number;
  /** Batches that are being read, one after the other. */
  ahead: { start: number; count: number; batch: Promise<Batch> }[];
  /** Samples of all batches that were begun. */
  begun: number;
}

/**
 * Batches of a stream, in its order. A rank asks for the samples [kB, (k + 1)B) of an epoch; where these are not the
 * next ones, after a resume, the stream is opened anew, and what comes before is skipped.
 */
export class StreamBatches implements BatchSource {
  readonly isLockstep = false;
  readonly length: number;
  readonly #dataset: Dataset;
  readonly #stream: SampleStream;
  readonly #who: StreamReader;
  #open: OpenEpoch | null = null;
  #batchSize = 0;

  constructor(dataset: Dataset, stream: SampleStream, who: StreamReader) {
    this.#dataset = dataset;
    this.#stream = stream;
    this.#who = who;
    this.length = stream.length;
  }

  async batch(indices: Int32Array, { epoch }: BatchPosition): Promise<Batch> {
    const [start] = indices;
    const { length } = indices;
    const open = this.#isNext(epoch, start, length) ? (this.#open as OpenEpoch) : await this.#openAt(epoch, start);
    this.#batchSize = Math.max(this.#batchSize, length);
    this.#fill(open, length);
    const first = open.ahead.shift();
    if (first === undefined) throw new Error(`Batch ${start} of a stream was not begun.`);
    const batch = await first.batch;
    if (start + length >= this.length) await this.#close();
    else this.#fill(open, this.#batchSize);
    return batch;
  }

  #isNext(epoch: number, start: number, count: number): boolean {
    if (this.#open?.epoch !== epoch) return false;
    const first = this.#open.ahead.at(0) ?? { start: this.#open.begun, count };
    return first.start === start && first.count === count;
  }

  /** Begins to read the next batches, each after the one before. */
  #fill(open: OpenEpoch, size: number): void {
    while (open.ahead.length < batchesAhead && open.begun < this.length) {
      const start = open.begun;
      const count = Math.min(size, this.length - start);
      const before = open.ahead.at(-1)?.batch ?? Promise.resolve();
      const batch = before.then(() => this.#read(open, count));
      // It is awaited when its turn comes, which may be after it has failed.
      batch.catch(() => undefined);
      open.ahead.push({ start, count, batch });
      open.begun += count;
    }
  }

  async #openAt(epoch: number, start: number): Promise<OpenEpoch> {
    await this.#close();
    const opened = this.#stream.open({ ...this.#who, epoch });
    const samples = Symbol.asyncIterator in opened ? opened[Symbol.asyncIterator]() : opened[Symbol.iterator]();
    const open: OpenEpoch = { epoch, samples, rest: null, given: 0, ahead: [], begun: start };
    this.#open = open;
    while (open.given < start) {
      const skipped = await this.#take(open, start - open.given);
      open.given += skipped.length;
    }
    return open;
  }

  /** Ends the epoch, so that a generator can close its files. */
  async #close(): Promise<void> {
    const open = this.#open;
    this.#open = null;
    if (open === null) return;
    await Promise.allSettled(open.ahead.map(({ batch }) => batch));
    await open.samples.return?.();
  }

  async #read(open: OpenEpoch, count: number): Promise<Batch> {
    const parts: Dataset[] = [];
    for (let missing = count; missing > 0;) {
      const part = await this.#take(open, missing);
      parts.push(part);
      missing -= part.length;
      open.given += part.length;
    }
    const samples = parts.length === 1 ? parts[0] : joined(parts);
    return gatherBatch(
      samples,
      Int32Array.from({ length: count }, (_, i) => i),
    );
  }

  /** The next samples, at most `most`. @throws Error where the stream has ended */
  async #take(open: OpenEpoch, most: number): Promise<Dataset> {
    const samples = open.rest ?? (await this.#next(open));
    const count = Math.min(most, samples.length);
    open.rest = count < samples.length ? part(samples, count, samples.length) : null;
    return count < samples.length ? part(samples, 0, count) : samples;
  }

  async #next(open: OpenEpoch): Promise<Dataset> {
    const { name } = this.#dataset;
    const { value, done } = await open.samples.next();
    if (done !== true) return this.#checked(value, open);
    throw new Error(
      `The stream of "${name}" ended after ${open.given} samples of epoch ${countEpoch(open.epoch)}, but an ` +
        `epoch has ${this.length}. Correct its length.`,
    );
  }

  /** @throws Error where samples do not have the shapes and labels that were declared */
  #checked({ features, targets, weights, mask }: StreamSamples, { epoch, given }: OpenEpoch): Dataset {
    const { stream: _, ...declared } = this.#dataset;
    const isOfType =
      features.constructor === declared.features.constructor && targets.constructor === declared.targets.constructor;
    const size = declared.featureShape.reduce((product, dimension) => product * dimension, 1);
    const samples = features.length / size;
    if (!isOfType || targets.length !== samples * valuesPerTarget(this.#dataset)) {
      throw new Error(
        `The stream of "${declared.name}" gave ${features.length} features (${features.constructor.name}) and ` +
          `${targets.length} targets (${targets.constructor.name}) at sample ${given} of epoch ${countEpoch(epoch)}. ` +
          `Give ${declared.features.constructor.name} of shape [${declared.featureShape.join(', ')}] and ` +
          `${declared.targets.constructor.name}, ${valuesPerTarget(this.#dataset)} a sample.`,
      );
    }
    return createDataset({ ...declared, features, targets, ...(weights && { weights }), ...(mask && { mask }) });
  }
}

/** Samples from `start` to before `end`, without copying them. */
function part(samples: Dataset, start: number, end: number): Dataset {
  const sliced = <A extends Float32Array | Int32Array | Uint8Array>(values: A): A => {
    const width = values.length / samples.length;
    return values.subarray(start * width, end * width) as A;
  };
  return withArrays(samples, end - start, sliced);
}

/** @throws Error where only some parts have weights or a mask */
function joined(parts: readonly Dataset[]): Dataset {
  const [first] = parts;
  const length = parts.reduce((sum, own) => sum + own.length, 0);
  const kinds = ['features', 'targets', 'weights', 'mask'] as const;
  const uneven = kinds.find((kind) => new Set(parts.map((own) => own[kind] === undefined)).size > 1);
  if (uneven !== undefined) {
    throw new Error(
      `The stream of "${first.name}" has ${uneven} for some samples only. Give them for all, or for none.`,
    );
  }
  let kind = 0;
  const present = kinds.filter((name) => first[name] !== undefined);
  return withArrays(first, length, (values) => {
    const whole = gatherRows(values, first.length, new Int32Array(length));
    let offset = 0;
    for (const own of parts) {
      const array = own[present[kind]] as typeof values;
      whole.set(array, offset);
      offset += array.length;
    }
    kind++;
    return whole;
  });
}

function withArrays(
  samples: Dataset,
  length: number,
  change: <A extends Float32Array | Int32Array | Uint8Array>(values: A) => A,
): Dataset {
  const { weights, mask } = samples;
  const [features, targets] = [change(samples.features), change(samples.targets)];
  const extras: Extras = { ...(weights && { weights: change(weights) }), ...(mask && { mask: change(mask) }) };
  return { ...samples, length, features, targets, ...extras };
}
