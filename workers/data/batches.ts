import type { ProcessGroup } from '../collectives/process-group.ts';
import { type Batch, type Dataset, gatherBatch, requireInMemory, subset } from './dataset.ts';
import { arraysOfExtras, mapExtras } from './fields.ts';
import type { Sampler } from './samplers.ts';

/** Where a batch belongs in training. */
export interface BatchPosition {
  /** Zero-based. */
  epoch: number;
  /** Zero-based, within the epoch. */
  batch: number;
  /** Steps before it. */
  step: number;
}

/** Supplies a rank's training batches. */
export interface BatchSource {
  /** Samples of the training set (N). */
  readonly length: number;
  /** Whether ranks communicate for each batch. All ranks must then request the same batches in the same order. */
  readonly isLockstep: boolean;
  /** The samples at `indices` as one batch. Its features are valid until the second call after this one. */
  batch(indices: Int32Array, at: BatchPosition): Batch | Promise<Batch>;
  /** Receives the order of the batches to come, so that they can be read ahead. */
  follow?(sampler: Sampler): void;
}

/** Batches that are available without waiting. */
export interface OwnBatches extends BatchSource {
  batch(indices: Int32Array): Batch;
}

/**
 * Batches of samples in this process's memory. Two buffers are used in turn: new large arrays in every step would
 * trigger a full garbage collection every few steps, which took a quarter of a small network's training time.
 */
export function ownBatches(dataset: Dataset): OwnBatches {
  requireInMemory(dataset);
  const width = dataset.features.length / dataset.length;
  let [next, last] = [new Float32Array(0), new Float32Array(0)];
  return {
    length: dataset.length,
    isLockstep: false,
    batch(indices) {
      [next, last] = [last, next];
      if (last.length < indices.length * width) last = new Float32Array(indices.length * width);
      return gatherBatch(dataset, indices, last);
    },
  };
}

/**
 * Sends batches of the first rank's samples to all ranks of a group. Their bits equal those of a local batch. Samples
 * are sent as stored (an image as bytes, not floats); every rank scales and normalizes them.
 */
export class BroadcastBatches implements BatchSource {
  readonly isLockstep = true;
  readonly length: number;
  private readonly group: ProcessGroup;
  private readonly dataset: Dataset;

  /**
   * @param dataset all samples on the first rank; on others a sample with the same type, shape and normalization
   * @param length the number of samples on the first rank
   */
  constructor(group: ProcessGroup, dataset: Dataset, length: number) {
    this.group = group;
    this.dataset = dataset;
    this.length = length;
  }

  async batch(indices: Int32Array): Promise<Batch> {
    const [root] = this.group.ranks;
    const own = this.group.rank === root ? subset(this.dataset, indices) : null;
    const bytes = await this.group.broadcast(packed(this.dataset, indices.length, own), root);
    const samples = unpacked(this.dataset, indices.length, bytes);
    return gatherBatch(
      samples,
      Int32Array.from({ length: indices.length }, (_, i) => i),
    );
  }
}

/**
 * Features, targets and further fields, each at a multiple of 4 bytes. Zeros if `samples` is null: a receiving rank
 * only needs the size.
 */
function packed(like: Dataset, count: number, samples: Dataset | null): Uint8Array {
  const { offsets, size } = layoutOf(like, count);
  const bytes = new Uint8Array(size);
  if (samples === null) return bytes;
  arraysOf(samples).forEach((array, i) => bytes.set(bytesOf(array), offsets[i]));
  return bytes;
}

function unpacked(like: Dataset, count: number, bytes: Uint8Array): Dataset {
  const { offsets } = layoutOf(like, count);
  const { buffer, byteOffset: start } = bytes;
  let next = 0;
  const received = <A extends AnyArray>(array: A): A => {
    const { constructor } = array as { constructor: unknown };
    const create = constructor as new (buffer: ArrayBufferLike, offset: number, length: number) => A;
    return new create(buffer, start + offsets[next++], (array.length / like.length) * count);
  };
  const [features, targets] = [received(like.features), received(like.targets)];
  return { ...like, length: count, features, targets, ...mapExtras(like, received) };
}

type AnyArray = Float32Array | Int32Array | Uint8Array;

function arraysOf(dataset: Dataset): AnyArray[] {
  return [dataset.features, dataset.targets, ...arraysOfExtras(dataset)];
}

/** Where each array of `count` samples begins, and the bytes of all. */
function layoutOf(like: Dataset, count: number): { offsets: number[]; size: number } {
  let size = 0;
  const offsets = arraysOf(like).map(({ length, BYTES_PER_ELEMENT }) => {
    const offset = size;
    size += Math.ceil(((length / like.length) * count * BYTES_PER_ELEMENT) / 4) * 4;
    return offset;
  });
  return { offsets, size };
}

function bytesOf({ buffer, byteOffset, byteLength }: AnyArray): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
