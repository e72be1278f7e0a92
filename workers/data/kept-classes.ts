import { readOwnText } from '../../core/node/own-files.ts';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { unlessMissing } from '../../core/node/file-error.ts';
import { type Preprocessing, preprocessingSchema } from '../../core/preprocessing/schema.ts';
import { messageOf } from '../../core/text/errors.ts';
import { createDataset, createSplits, type Dataset, mapEachSplit, type Splits } from './dataset.ts';

/**
 * The splits with the numbers of classes that a run began with: its `preprocessing.json`, or of a fork that of its
 * origin. Weights, predictions and figures of the run count on that order, which another version or another listing of
 * the same classes may not give.
 * @throws Error if the run has other classes than the data now
 */
export async function withKeptClasses(splits: Splits, runFolder: string): Promise<Splits> {
  const { preprocessing } = splits;
  const target = preprocessing?.target;
  if (preprocessing === undefined || target?.kind !== 'classes') return splits;
  const own = await keptClasses(runFolder);
  const kept = own ?? (await keptClasses(join(runFolder, 'origin')));
  if (kept === null || isSameList(kept, target.classNames)) return splits;
  // A fork may train for other classes.
  if (own === null && !isSameList(kept.toSorted(), target.classNames.toSorted())) return splits;
  return withClassOrder(splits, target.classNames, kept, `the run in ${runFolder} was trained for`);
}

/**
 * The splits with the classes numbered in the order of `kept`.
 * @param names of the classes in the order of the splits
 * @param owner of the other order, for messages: `the run ... was trained for`
 * @throws Error if the classes are others
 */
export function withClassOrder(
  splits: Splits,
  names: readonly string[],
  kept: readonly string[],
  owner: string,
): Splits {
  if (isSameList(kept, names)) return splits;
  if (!isSameList(kept.toSorted(), names.toSorted())) throw otherClasses(owner, kept, names);
  const positions = names.map((name) => kept.indexOf(name));
  const reordered = mapEachSplit(splits, (dataset) => reorder(dataset, names, kept, positions));
  const { preprocessing } = splits;
  const target = preprocessing?.target;
  if (preprocessing === undefined || target?.kind !== 'classes' || !isSameList(target.classNames, names)) {
    return createSplits({ ...splits, ...reordered });
  }
  const steps: Preprocessing = { ...preprocessing, target: { ...target, classNames: [...kept] } };
  return createSplits({ ...splits, ...reordered, preprocessing: steps });
}

/** Splits whose classes a project named itself keep their own. */
function reorder(
  dataset: Dataset,
  names: readonly string[],
  kept: readonly string[],
  positions: readonly number[],
): Dataset {
  const { targets, classNames } = dataset;
  if (!(targets instanceof Int32Array) || !classNames || !isSameList(classNames, names)) return dataset;
  return createDataset({ ...dataset, classNames: kept, targets: targets.map((label) => positions[label]) });
}

async function keptClasses(folder: string): Promise<string[] | null> {
  const path = join(folder, 'preprocessing.json');
  const text = await unlessMissing(readOwnText(dirname(path), basename(path)));
  if (text === null) return null;
  try {
    const { target } = preprocessingSchema.parse(JSON.parse(text));
    return target?.kind === 'classes' ? target.classNames : null;
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : messageOf(error);
    throw new Error(`${path} is damaged: ${reason}\nRestore it from a copy.`, { cause: error });
  }
}

function isSameList(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((name, at) => name === right[at]);
}

function otherClasses(owner: string, kept: readonly string[], now: readonly string[]): Error {
  const list = (names: readonly string[]) =>
    names.length === 0 ? 'none' : names.map((name) => JSON.stringify(name)).join(', ');
  const lacking = kept.filter((name) => !now.includes(name));
  const added = now.filter((name) => !kept.includes(name));
  return new Error(
    `The data have other classes than ${owner}: missing ${list(lacking)}, new ${list(added)}. Restore the data, or ` +
      'begin anew.',
  );
}
