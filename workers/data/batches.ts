import type { ProcessGroup } from '../collectives/process-group.ts';
import { type Batch, type Dataset, gatherBatch, subset } from './dataset.ts';

/** Where a rank's training batches come from. */
export interface BatchSource {
  /** Samples of the training set (N). */
  readonly length: number;
  /** Whether ranks exchange for a batch: then all of them must ask for the same ones, in the same order. */
  readonly isLockstep: boolean;
  /** The samples at `indices` as one batch, whose features are valid until the batch after the next is asked for. */
  batch(indices: Int32Array): Batch | Promise<Batch>;
}

/** Those that need no waiting. */
export interface OwnBatches extends BatchSource {
  batch(indices: Int32Array): Batch;
}

/**
 * Batches of samples that this process has. Two take turns in the same memory: large arrays that live for a step would have all garbage
 * collected every few steps, which took a small network's training a quarter of its time.
 */
export function ownBatches(dataset: Dataset): OwnBatches {
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
 * Batches of the first rank's samples on all ranks of a group, with the bits that each would have gathered by itself. Samples travel as they are
 * stored (an image's bytes, not floats); every rank scales and normalizes them.
 */
export class BroadcastBatches implements BatchSource {
  readonly isLockstep = true;
  readonly length: number;
  private readonly group: ProcessGroup;
  private readonly dataset: Dataset;

  /** @param dataset all samples on the first rank; on others any that tell type, shape and normalization. `length` is that of the first's. */
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

/** Features, then targets from a multiple of 4 bytes on; zeros where `samples` are null, as only the size counts then. */
function packed(like: Dataset, count: number, samples: Dataset | null): Uint8Array {
  const { targetsOffset, size } = layoutOf(like, count);
  const bytes = new Uint8Array(size);
  if (samples === null) return bytes;
  bytes.set(bytesOf(samples.features));
  bytes.set(bytesOf(samples.targets), targetsOffset);
  return bytes;
}

function unpacked(like: Dataset, count: number, bytes: Uint8Array): Dataset {
  const { featureCount, targetsOffset, targetCount } = layoutOf(like, count);
  const { buffer, byteOffset: start } = bytes;
  const features =
    like.features instanceof Uint8Array
      ? new Uint8Array(buffer, start, featureCount)
      : new Float32Array(buffer, start, featureCount);
  const targets =
    like.targets instanceof Int32Array
      ? new Int32Array(buffer, start + targetsOffset, targetCount)
      : new Float32Array(buffer, start + targetsOffset, targetCount);
  return { ...like, length: count, features, targets };
}

function layoutOf({ length, features, targets }: Dataset, count: number) {
  const featureCount = (features.length / length) * count;
  const targetCount = (targets.length / length) * count;
  const targetsOffset = Math.ceil((featureCount * features.BYTES_PER_ELEMENT) / 4) * 4;
  return { featureCount, targetsOffset, targetCount, size: targetsOffset + targetCount * targets.BYTES_PER_ELEMENT };
}

function bytesOf({ buffer, byteOffset, byteLength }: Dataset['features'] | Dataset['targets']): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
