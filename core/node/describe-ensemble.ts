import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { combinationOf } from '../protocol/run/strategies/strategy-rules.ts';
import { type EnsembleDescription, type EnsembleMember, ensembleSchema } from '../ensemble/schema.ts';
import { taskKinds } from '../metrics/registry/metric.ts';
import { postprocessingPath } from '../postprocessing/schema.ts';
import { preprocessingSchema } from '../preprocessing/schema.ts';
import { memberRanksOf } from '../protocol/run/lost-members.ts';
import { checkpointRecordSchema, type RunRecord, runRecordSchema } from '../protocol/run/record.ts';
import { decodeHeader, lengthBytes, readHeaderLength } from '../safetensors/header.ts';
import { messageOf } from '../text/errors.ts';
import { unlessMissing } from './file-error.ts';
import { openOwnFile, readOwnText } from './own-files.ts';
import { listOwnFolder } from './own-folders.ts';
import { readFully } from './read-lines.ts';

/** Names of checkpoints that make an ensemble without being named, the first that all members have. */
const usualSets = ['ensemble-best', 'member-best', 'final'];

/**
 * Describes a run as an ensemble: the files of its members' checkpoints of one name, relative to the run's folder.
 * Members that the run lost are left out.
 * @param set the checkpoints' name; by default the first of `ensemble-best`, `member-best` and `final` that all members
 * have
 * @throws Error that names what is missing, and the sets that there are
 */
export async function describeEnsemble(folder: string, set?: string): Promise<EnsembleDescription> {
  const record = await readRecordOf(folder);
  const ranks = memberRanksOf(record);
  const sets = await commonSets(folder, ranks);
  const chosen = set ?? usualSets.find((name) => sets.includes(name));
  if (chosen === undefined || !sets.includes(chosen)) throw noSet(record, chosen, sets);
  const members = await Promise.all(ranks.map((rank) => describeMember(folder, rank, chosen)));
  const preprocessing = await readTarget(folder);
  const task = z.enum(taskKinds).parse(record.task);
  return ensembleSchema.parse({
    format: 1,
    name: record.name,
    run: record.id,
    set: chosen,
    task,
    combination: combinationOf(record.config.strategy, task),
    classNames: preprocessing?.classNames ?? (await keptClassNames(folder)),
    quantiles: record.quantiles ?? null,
    outputs: record.outputs ?? [],
    members,
    preprocessing: preprocessing === null ? null : 'preprocessing.json',
    postprocessing: existsSync(join(folder, postprocessingPath(chosen))) ? postprocessingPath(chosen) : null,
  } satisfies z.input<typeof ensembleSchema>);
}

async function readRecordOf(folder: string): Promise<RunRecord> {
  const record = await readJson(folder, 'run.json', runRecordSchema);
  if (record === null) throw new Error(`${folder} is no run: it has no run.json. Name the folder of a run.`);
  return record;
}

/** @returns null if there is no such file @throws Error that says what is wrong with it */
async function readJson<T>(folder: string, path: string, schema: z.ZodType<T>): Promise<T | null> {
  const text = await unlessMissing(readOwnText(folder, path));
  if (text === null) return null;
  try {
    return schema.parse(JSON.parse(text));
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : messageOf(error);
    throw new Error(`${join(folder, path)} is damaged: ${reason}\nRestore it from a copy.`, { cause: error });
  }
}

/** Names of checkpoints that all ranks have. */
async function commonSets(folder: string, ranks: readonly number[]): Promise<string[]> {
  const lists = await Promise.all(
    ranks.map(async (rank) => {
      const entries = await listOwnFolder(folder, join('checkpoints', `rank-${rank}`));
      const names = entries.map(({ name }) => name);
      return names.filter((name) => name.endsWith('.json')).map((name) => name.slice(0, -'.json'.length));
    }),
  );
  const [first = [], ...others] = lists;
  return first.filter((name) => others.every((list) => list.includes(name))).sort();
}

function noSet({ id }: RunRecord, wanted: string | undefined, sets: readonly string[]): Error {
  const rule = 'an ensemble needs a checkpoint of the same name of each member';
  const have = sets.length === 0 ? 'It has none.' : `It has: ${sets.join(', ')}.`;
  return new Error(
    wanted === undefined
      ? `The run ${id} has no checkpoints ${usualSets.join(', ')}: ${rule}. ${have}`
      : `The run ${id} has no set "${wanted}": ${rule}. ${have}`,
  );
}

async function describeMember(folder: string, rank: number, set: string): Promise<EnsembleMember> {
  const base = `checkpoints/rank-${rank}/${set}`;
  const record = await readJson(folder, `${base}.json`, checkpointRecordSchema);
  if (record === null) throw new Error(`${join(folder, base)}.json was removed meanwhile. Choose another set.`);
  const { epoch, step, model, bytes, sha256 } = record;
  if (model === undefined) {
    throw new Error(
      `The run did not save the architecture of checkpoint "${set}" of rank ${rank}: its model could ` +
        'not describe itself. Give its custom layers a getConfig() and train it again.',
    );
  }
  const path = `models/rank-${rank}/${model}.json`;
  if (!existsSync(join(folder, path))) {
    throw new Error(`${join(folder, path)} is missing: it holds the model of rank ${rank}. Restore it from a copy.`);
  }
  return { rank, epoch, step, model: path, weights: `${base}.safetensors`, bytes, sha256 };
}

/** What `preprocessing.json` says of the classes; null if there is no such file. */
async function readTarget(folder: string): Promise<{ classNames: string[] | null } | null> {
  const preprocessing = await readJson(folder, 'preprocessing.json', preprocessingSchema);
  if (preprocessing === null) return null;
  const { target } = preprocessing;
  return { classNames: target?.kind === 'classes' ? target.classNames : null };
}

/** Names of the classes that the run kept beside the targets of an evaluated split. */
async function keptClassNames(folder: string): Promise<string[] | null> {
  const paths = ['validation', 'test'].map((split) => join('predictions', split, 'targets.safetensors'));
  const path = paths.find((candidate) => existsSync(join(folder, candidate)));
  if (path === undefined) return null;
  const handle = await openOwnFile(folder, path);
  try {
    const { size } = await handle.stat();
    const start = new Uint8Array(lengthBytes);
    await readFully(handle, start, 0);
    const header = new Uint8Array(readHeaderLength(start, size));
    await readFully(handle, header, lengthBytes);
    const { metadata } = decodeHeader(header, size - lengthBytes - header.byteLength);
    const { class_names: names } = metadata;
    return names === undefined ? null : z.array(z.string()).parse(JSON.parse(names));
  } finally {
    await handle.close();
  }
}
