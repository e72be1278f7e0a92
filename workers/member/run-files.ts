import { readOwnBytes, readOwnText } from '../../core/node/own-files.ts';
import { messageOf } from '../../core/text/errors.ts';
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import type { CheckpointRecord } from '../../core/protocol/run/record.ts';
import { writeFileAsOnlyWriter } from '../../core/node/atomic-file.ts';
import { keepTopology } from '../checkpoints/layers-model.ts';
import { ReplacedFiles } from '../checkpoints/replaced-files.ts';
import { readPins, type RetentionPolicy, supersededCheckpoints } from '../checkpoints/retention.ts';
import { saveState, type TrainingState } from '../checkpoints/training-state.ts';
import {
  type Checkpoint,
  checkpointsOf,
  hasCheckpoint,
  readCheckpoint,
  removeCheckpoint,
  saveCheckpoint,
} from '../checkpoints/checkpoint-store.ts';
import { decodeSafetensors, encodeSafetensors, type NamedTensor } from '../../core/safetensors/safetensors.ts';
import { targetNamesOf } from '../../core/preprocessing/schema.ts';
import type { Dataset, Splits } from '../data/dataset.ts';
import { preprocessingOf } from '../data/standardize.ts';
import type { MemberOutputs, Predictions } from './predictions.ts';
import { targetWeights } from './tasks/checks.ts';
import { asFullDisk, type RoomOptions, whenThereIsRoom } from '../../core/node/disk-room.ts';
import type { Position, Report } from './report.ts';

/** Names of tensors that say what they hold; others are `output_<n>`. */
const tensorNames: Partial<Record<Predictions['kind'], string>> = { logits: 'logits', 'label-logits': 'label_logits' };
const kindsByTensor = new Map<string, Predictions['kind']>([
  ['logits', 'logits'],
  ['label_logits', 'label-logits'],
]);

export type Split = 'validation' | 'test';

/** `pool`: all samples of which a search labels some. */
type PredictedSplit = Split | 'pool';

interface KeptPredictions extends MemberOutputs {
  epoch: number;
}

/** One rank's files in the run folder. */
export class RunFiles {
  readonly folder: string;
  readonly rank: number;
  /** The attempt that writes them, from 1. */
  readonly attempt: number;
  readonly #replaced: ReplacedFiles;
  readonly #room: Pick<SaveRoom, 'save'>;
  #keepsReplaced = false;

  /** @param room lets saves wait while the disk is full; without it they fail */
  constructor(folder: string, rank: number, attempt = 1, room: Pick<SaveRoom, 'save'> = { save: (write) => write() }) {
    this.folder = folder;
    this.rank = rank;
    this.attempt = attempt;
    this.#replaced = new ReplacedFiles(folder, rank);
    this.#room = room;
  }

  /** Calls `use`, and keeps copies of checkpoints and predictions that it replaces, for {@link putReplacedBack}. */
  async keepReplaced(use: () => Promise<void>): Promise<void> {
    this.#keepsReplaced = true;
    try {
      await use();
    } finally {
      this.#keepsReplaced = false;
    }
  }

  /** Whether no later attempt has taken over the run. */
  async isOfThisAttempt(): Promise<boolean> {
    const record: unknown = JSON.parse(await readOwnText(this.folder, 'run.json'));
    return z.looseObject({ attempts: z.array(z.unknown()) }).parse(record).attempts.length === this.attempt;
  }

  /**
   * Undoes what the last evaluation of an earlier attempt's stop did to files.
   * @returns what is wrong with those that it could not undo
   */
  async putReplacedBack(): Promise<string[]> {
    return this.#replaced.putBack(dirname(this.predictionsPath('validation', this.rank, 'any')));
  }

  /** Saves the state for an exact resume; leaves it out if the run is stopped while the disk is full. */
  async saveState(state: TrainingState): Promise<void> {
    await this.#room.save(() => saveState(this.folder, this.rank, state));
  }

  /** Saves the architecture of the model. @returns its SHA-256; null if the run is stopped while the disk is full */
  keepTopology(text: string): Promise<string | null> {
    return this.#room.save(() => keepTopology(this.folder, this.rank, text));
  }

  /** Saves a checkpoint. @returns null if the run is stopped while the disk is full */
  saveCheckpoint(
    tensors: NamedTensor[],
    about: Omit<CheckpointRecord, 'format' | 'rank' | 'sha256' | 'bytes' | 'savedAt'>,
  ): Promise<CheckpointRecord | null> {
    return this.#room.save(async () => {
      if (this.#keepsReplaced) await this.#replaced.keepCheckpoint(about.name);
      return saveCheckpoint(this.folder, { ...about, rank: this.rank, tensors });
    });
  }

  /**
   * Removes checkpoints of this rank that the policy no longer keeps, now that `saved` is on the disk. Not while
   * replaced ones are kept.
   * @returns why nothing was removed, if the user's notes cannot be read
   */
  async removeSuperseded(policy: RetentionPolicy, saved: string): Promise<string | null> {
    if (this.#keepsReplaced) return null;
    if (policy.keepLast === 0 && policy.quotaBytes === null && !saved.startsWith('top-')) return null;
    const own = await checkpointsOf(this.folder, this.rank);
    const pinned = await readPins(this.folder, this.rank).catch((error: unknown) => messageOf(error));
    if (typeof pinned === 'string') return pinned;
    for (const name of supersededCheckpoints(own, policy, saved, pinned))
      await removeCheckpoint(this.folder, this.rank, name);
    return null;
  }

  /** This rank's checkpoint of that name, or null if there is none. @throws when it is damaged */
  async readCheckpointIfAny(name: string): Promise<Checkpoint | null> {
    return hasCheckpoint(this.folder, this.rank, name) ? readCheckpoint(this.folder, this.rank, name) : null;
  }

  /** Saves this rank's predictions for a split under a name: `best`, `epoch-00012`, or that of a checkpoint set. */
  async savePredictions(split: PredictedSplit, name: string, predictions: Predictions, epoch: number): Promise<void> {
    const tensors = tensorsOf(predictions);
    const path = this.predictionsPath(split, this.rank, name);
    await this.#room.save(async () => {
      if (this.#keepsReplaced) await this.#replaced.keepPredictions(path);
      await writeFileAsOnlyWriter(path, encodeSafetensors(tensors, { epoch: String(epoch) }));
    });
  }

  /**
   * Saves the targets of the splits that are evaluated, for pages, which have neither project nor data: the targets,
   * their weights (0 where masked), the names of classes and targets and, where a sample is a single number, that
   * number.
   */
  async saveTargets(data: Splits): Promise<void> {
    const { validation, test } = data;
    const names = targetNamesOf(preprocessingOf(data));
    if (validation !== undefined) await this.#saveTargetsOf('validation', validation, names);
    if (test !== undefined) await this.#saveTargetsOf('test', test, names);
  }

  async #saveTargetsOf(split: Split, dataset: Dataset, targetNames: readonly string[] | undefined): Promise<void> {
    const { targets, features, length, classNames, targetShape } = dataset;
    const oneOrMore = targets.length === length ? [] : [targets.length / length];
    const shape = [length, ...(targetShape ?? oneOrMore)];
    const tensors: NamedTensor[] = [
      targets instanceof Int32Array
        ? { name: 'targets', dtype: 'I32', shape, data: new Int32Array(targets) }
        : { name: 'targets', dtype: 'F32', shape, data: new Float32Array(targets) },
    ];
    if (dataset.heldOutBy !== undefined) {
      const { heldOutBy } = dataset;
      tensors.push({
        name: 'held_out_by',
        dtype: 'I32',
        shape: [length, heldOutBy.length / length],
        data: new Int32Array(heldOutBy),
      });
    }
    if (features instanceof Float32Array && features.length === length) {
      tensors.push({ name: 'feature', dtype: 'F32', shape: [length], data: new Float32Array(features) });
    }
    const weights = targetWeights(dataset);
    if (weights !== undefined) tensors.push({ name: 'weights', dtype: 'F32', shape, data: Float32Array.from(weights) });
    const metadata: Record<string, string> = {
      ...(classNames && { class_names: JSON.stringify(classNames) }),
      ...(targetNames && { target_names: JSON.stringify(targetNames) }),
    };
    const path = join(this.folder, 'predictions', split, 'targets.safetensors');
    await this.#room.save(() => writeFileAsOnlyWriter(path, encodeSafetensors(tensors, metadata)));
  }

  /**
   * Predictions that a rank of this run saved under that name, with the epoch of its weights; null if there are none.
   */
  async readPredictions(split: Split, rank: number, name: string): Promise<KeptPredictions | null> {
    const path = this.predictionsPath(split, rank, name);
    if (!existsSync(path)) return null;
    const { tensors, metadata } = decodeSafetensors(await readOwnBytes(dirname(path), basename(path)));
    return { ...predictionsIn(tensors), ranks: [rank], epoch: Number(metadata.epoch) };
  }

  private predictionsPath(split: PredictedSplit, rank: number, name: string): string {
    return join(this.folder, 'predictions', split, `rank-${rank}`, `${name}.safetensors`);
  }
}

/** Those of further outputs are named `<output>:<tensor>`. */
function tensorsOf({ kind, samples, width, values, further = {} }: Predictions): NamedTensor[] {
  const own = values.map((data, output): NamedTensor => ({
    name: tensorNames[kind] ?? `output_${output}`,
    dtype: 'F32',
    shape: [samples, width],
    data,
  }));
  const others = Object.entries(further).flatMap(([output, predictions]) =>
    tensorsOf(predictions).map((tensor) => ({ ...tensor, name: `${output}:${tensor.name}` })),
  );
  return [...own, ...others];
}

function predictionsIn(tensors: readonly NamedTensor[]): Predictions {
  const own = tensors.filter(({ name }) => !name.includes(':'));
  const [samples, width] = own[0].shape;
  const values = own.map(({ data }) => data as Float32Array<ArrayBuffer>);
  const predictions = { kind: kindsByTensor.get(own[0].name) ?? 'values', samples, width, values } as const;
  const outputs = new Set(
    tensors.flatMap(({ name }) => (name.includes(':') ? [name.slice(0, name.indexOf(':'))] : [])),
  );
  if (outputs.size === 0) return predictions;
  const tensorsOfOutput = (output: string): NamedTensor[] =>
    tensors.flatMap((tensor) =>
      tensor.name.startsWith(`${output}:`) ? [{ ...tensor, name: tensor.name.slice(output.length + 1) }] : [],
    );
  const further = Object.fromEntries([...outputs].map((output) => [output, predictionsIn(tensorsOfOutput(output))]));
  return { ...predictions, further };
}

interface SaveRoomOptions {
  report: Report;
  /** Whether the run was asked to stop. */
  controls: { readonly stopReceived: boolean };
  /** The rank's present position, for events. */
  position: () => Position;
  /** Waits until the next look at the disk; default: a second. */
  pause?: RoomOptions['pause'];
}

/**
 * Lets the saves of a rank wait while the disk is full. The rank trains no further meanwhile, and the others wait for
 * it at the next rendezvous. A stop of the run ends the wait without the save.
 */
export class SaveRoom {
  readonly #options: SaveRoomOptions;

  constructor(options: SaveRoomOptions) {
    this.#options = options;
  }

  /** @returns null if the run was stopped before there was room @throws any error but that of a full disk */
  async save<T>(write: () => Promise<T>): Promise<T | null> {
    const { report, controls, position, pause } = this.#options;
    try {
      return await whenThereIsRoom(write, {
        onFull: ({ message, ...data }) => report.event('disk-full', message, position(), { ...data }),
        onRoom: () => report.event('disk-room', 'There is room on the disk again: the run continues.', position()),
        isAbandoned: () => controls.stopReceived,
        ...(pause === undefined ? {} : { pause }),
      });
    } catch (error) {
      const full = asFullDisk(error);
      if (full === null || !controls.stopReceived) throw error;
      const message =
        `${full.path} was not written, because the run was stopped while the disk was full. What was saved ` +
        'before is intact.';
      report.event('save-skipped', message, position(), { path: full.path });
      return null;
    }
  }
}
