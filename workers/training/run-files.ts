import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { CheckpointRecord } from '../../protocol/run-record.ts';
import { writeFileAtomically } from '../checkpoints/atomic-file.ts';
import { type Checkpoint, listCheckpoints, readCheckpoint, saveCheckpoint } from '../checkpoints/checkpoint-store.ts';
import { decodeSafetensors, encodeSafetensors, type NamedTensor } from '../checkpoints/safetensors.ts';
import type { MemberOutputs, Predictions } from './predict.ts';

export type Split = 'validation' | 'test';

export interface KeptPredictions extends MemberOutputs {
  epoch: number;
}

/** What one rank reads and writes in the run folder. */
export class RunFiles {
  readonly folder: string;
  readonly rank: number;

  constructor(folder: string, rank: number) {
    this.folder = folder;
    this.rank = rank;
  }

  saveCheckpoint(
    tensors: NamedTensor[],
    about: Omit<CheckpointRecord, 'format' | 'rank' | 'sha256' | 'bytes' | 'savedAt'>,
  ) {
    return saveCheckpoint(this.folder, { ...about, rank: this.rank, tensors });
  }

  /** This rank's checkpoint of that name, or null if it kept none. @throws when it is corrupt */
  async readCheckpointIfAny(name: string): Promise<Checkpoint | null> {
    const kept = await listCheckpoints(this.folder);
    const exists = kept.some((record) => record.rank === this.rank && record.name === name);
    return exists ? readCheckpoint(this.folder, this.rank, name) : null;
  }

  /** Keeps this rank's predictions of a split under a name: `best`, `epoch-00012`, a checkpoint set's. */
  async savePredictions(
    split: Split,
    name: string,
    { samples, width, values }: Predictions,
    epoch: number,
  ): Promise<void> {
    const tensors = values.map((data, output): NamedTensor => ({
      name: `output_${output}`,
      dtype: 'F32',
      shape: [samples, width],
      data,
    }));
    const path = this.predictionsPath(split, this.rank, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFileAtomically(path, encodeSafetensors(tensors, { epoch: String(epoch) }));
  }

  /** What another rank of this run kept under that name, and the epoch its weights were from; null when it kept nothing. */
  async readPredictions(split: Split, rank: number, name: string): Promise<KeptPredictions | null> {
    const path = this.predictionsPath(split, rank, name);
    if (!existsSync(path)) return null;
    const { tensors, metadata } = decodeSafetensors(await readFile(path));
    const [samples, width] = tensors[0].shape;
    const values = tensors.map(({ data }) => data as Float32Array<ArrayBuffer>);
    return { ranks: [rank], samples, width, values, epoch: Number(metadata.epoch) };
  }

  private predictionsPath(split: Split, rank: number, name: string): string {
    return join(this.folder, 'predictions', split, `rank-${rank}`, `${name}.safetensors`);
  }
}
