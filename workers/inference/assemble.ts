import { requireFittedOn } from '../../core/ensemble/combine-members.ts';
import { type EnsembleDescription, type EnsembleMember, ensembleSchema } from '../../core/ensemble/schema.ts';
import { type Postprocessing, postprocessingSchema } from '../../core/postprocessing/schema.ts';
import { isDistanceScore, looksAtInputs } from '../../core/postprocessing/outside/distances.ts';
import { decodeReferences } from '../../core/postprocessing/outside/reference-file.ts';
import { type Preprocessing, preprocessingSchema } from '../../core/preprocessing/schema.ts';
import { decodeSafetensors } from '../../core/safetensors/safetensors.ts';
import { messageOf } from '../../core/text/errors.ts';
import { writeWeights } from '../member/weights.ts';
import type { LayersModel } from '../tensorflow/tf.ts';
import { modelFromTopology, unregisteredClasses } from '../tensorflow/topology.ts';
import { BatchDistances } from './batch-distances.ts';
import { Ensemble } from './ensemble.ts';

/** Where the files that an ensemble's description names come from: a folder, or a server. */
export interface EnsembleFiles {
  /** Name of the place, for messages. */
  readonly place: string;
  /** Whether these files were exported, so that `tutti calibrate` does not reach them. */
  readonly isExported: boolean;
  read(path: string): Promise<Uint8Array>;
  /** SHA-256 in hexadecimal digits; null where this place cannot compute it. */
  sha256(bytes: Uint8Array): Promise<string | null>;
  /** Builds a model of layers that only the project's code has; absent: such models are refused. */
  buildModel?: (rank: number, topology: string, subject: string) => Promise<LayersModel>;
}

/** Reads `ensemble.json`. @throws Error that names the place and what is wrong */
export async function readDescription(files: EnsembleFiles): Promise<EnsembleDescription> {
  return readJson(files, 'ensemble.json', (value) => ensembleSchema.parse(value));
}

/** Opens an ensemble. @throws Error that names the file that is missing, damaged, or does not fit */
export async function assembleEnsemble(files: EnsembleFiles, description: EnsembleDescription): Promise<Ensemble> {
  const path = description.preprocessing;
  const preprocessing =
    path === null ? null : await readJson<Preprocessing>(files, path, (value) => preprocessingSchema.parse(value));
  const fittedPath = description.postprocessing;
  const postprocessing =
    fittedPath === null
      ? null
      : await readJson<Postprocessing>(files, fittedPath, (value) => postprocessingSchema.parse(value));
  if (postprocessing !== null) requireFitting(files, description, postprocessing);
  const models: LayersModel[] = [];
  try {
    for (const member of description.members) models.push(await openMember(files, member));
    const distances = await openDistances(files, description, postprocessing, models);
    return new Ensemble(description, models, { preprocessing, postprocessing, distances });
  } catch (error) {
    for (const model of models) model.dispose();
    throw error;
  }
}

/**
 * A resumed run may have replaced the checkpoints since.
 * @throws Error that names the file and what to do
 */
export function requireFitting(
  files: Pick<EnsembleFiles, 'place' | 'isExported'>,
  description: EnsembleDescription,
  fitted: Postprocessing,
): void {
  const subject = `${description.postprocessing} in ${files.place}`;
  const remedy = fitAgain(files, description);
  requireFittedOn(description, fitted, subject, remedy);
  const fits =
    fitted.task === description.task &&
    fitted.set.members.length === description.members.length &&
    description.members.every(({ rank, epoch }, i) => {
      const own = fitted.set.members[i];
      return own.rank === rank && own.epoch === epoch;
    });
  if (fits) return;
  throw new Error(
    `${subject} was fitted for other checkpoints than those of the set ${description.set} now. ${remedy}`,
  );
}

/** The remedy for what was fitted and does not suit the ensemble. */
function fitAgain(
  { isExported }: Pick<EnsembleFiles, 'isExported'>,
  { run, set }: Pick<EnsembleDescription, 'run' | 'set'>,
): string {
  const command = `tutti calibrate ${run} --set ${set}`;
  if (!isExported) return `Fit it again (${command}), or remove it.`;
  return (
    `Calibrate the run again (${command}) and export the ensemble again, or let "postprocessing" be null in ` +
    'ensemble.json: the answers are then not calibrated, and have no sets, intervals or thresholds.'
  );
}

/** What measures distances to the training samples; null where no score needs it. */
async function openDistances(
  files: EnsembleFiles,
  description: EnsembleDescription,
  fitted: Postprocessing | null,
  models: readonly LayersModel[],
): Promise<BatchDistances | null> {
  const { outside = null } = fitted ?? {};
  if (outside === null || !isDistanceScore(outside.score)) return null;
  const { set, members } = description;
  const again = fitAgain(files, description);
  const { reference } = outside;
  if (!reference) throw new Error(`postprocessing of the set ${set} in ${files.place} names no reference. ${again}`);
  const bytes = await files.read(reference.path);
  await requireWhole(files, { ...reference, weights: reference.path }, bytes, again);
  const references = decodeReferences(bytes);
  const expected = looksAtInputs(outside.score) ? 1 : members.length;
  if (references.length === expected) return new BatchDistances(outside.score, references, models);
  throw new Error(`${reference.path} in ${files.place} is for ${references.length} members, not ${expected}. ${again}`);
}

async function openMember(files: EnsembleFiles, member: EnsembleMember): Promise<LayersModel> {
  const subject = `rank ${member.rank} in ${files.place}`;
  const topology = new TextDecoder().decode(await readModel(files, member));
  const weights = await files.read(member.weights);
  await requireWhole(files, member, weights);
  const model = await (files.buildModel?.(member.rank, topology, subject) ?? modelOfRegistered(topology, subject));
  writeWeights(model, decodeSafetensors(weights).tensors, `${member.weights} of ${files.place}`);
  return model;
}

/** A run names the files of its models by their SHA-256. @throws Error that names a damaged one */
async function readModel(files: EnsembleFiles, { model }: EnsembleMember): Promise<Uint8Array> {
  const bytes = await files.read(model);
  const named = /([0-9a-f]{64})\.json$/.exec(model)?.[1];
  const found = named === undefined ? null : await files.sha256(bytes);
  if (found === null || found === named) return bytes;
  throw new Error(
    `${model} of ${files.place} was damaged or changed: its SHA-256 is not the one in its name. Restore it ` +
      'from a copy.',
  );
}

function modelOfRegistered(topology: string, subject: string): Promise<LayersModel> {
  const unknown = unregisteredClasses(topology);
  if (unknown.length === 0) return modelFromTopology(topology, subject);
  throw new Error(
    `The model of ${subject} has layers of classes that are not registered: ${unknown.join(', ')}. Import your ` +
      'code that defines them, and register each before opening the ensemble: ' +
      'tf.serialization.registerClass(TheClass).',
  );
}

async function requireWhole(
  files: EnsembleFiles,
  { weights, bytes, sha256 }: Pick<EnsembleMember, 'weights' | 'bytes' | 'sha256'>,
  content: Uint8Array,
  remedy = 'Export the ensemble again.',
): Promise<void> {
  const found = content.byteLength === bytes ? await files.sha256(content) : `of ${content.byteLength} bytes`;
  if (found === null || found === sha256) return;
  throw new Error(
    `${weights} in ${files.place} was damaged or changed: it should have ${bytes} bytes with SHA-256 ` +
      `${sha256}, but is ${found}. ` +
      remedy,
  );
}

async function readJson<T>(files: EnsembleFiles, path: string, parse: (value: unknown) => T): Promise<T> {
  const text = new TextDecoder().decode(await files.read(path));
  try {
    return parse(JSON.parse(text));
  } catch (error) {
    throw new Error(`${path} in ${files.place} is damaged: ${messageOf(error)}`, { cause: error });
  }
}
