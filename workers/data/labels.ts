import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { type Labels, labelsFile, labelsSchema } from '../../core/protocol/run/pool-task.ts';
import { messageOf } from '../../core/text/errors.ts';
import { withClassOrder } from './kept-classes.ts';
import { createDataset, createSplits, type Dataset, type Splits, subset } from './dataset.ts';

/** Bytes become numbers of four bytes each up to this many values: 256 MiB. */
const mostValues = 2 ** 26;

/**
 * The labels of a run's folder.
 * @param sha256 of the file
 * @throws Error if the file is missing, damaged or another one
 */
export async function readLabels(runFolder: string, sha256: string): Promise<Labels> {
  const path = join(runFolder, labelsFile);
  const bytes = await readFile(path).catch((error: unknown) => {
    throw new Error(`${path} holds the labels of this run and cannot be read: ${messageOf(error)}. Restore it.`, {
      cause: error,
    });
  });
  if (createHash('sha256').update(bytes).digest('hex') !== sha256) {
    throw new Error(`${path} is not the file of labels that this run began with. Restore it from a copy.`);
  }
  const parsed = labelsSchema.safeParse(JSON.parse(bytes.toString('utf8')));
  if (!parsed.success) throw new Error(`${path} is damaged:\n${z.prettifyError(parsed.error)}`);
  return parsed.data;
}

/**
 * The splits of a run that trains on some labels: the labelled samples are its training split, and the whole pool is
 * `unlabelled`. The targets that the pool itself has are not used.
 * @throws Error if the labels do not fit the pool, the pool has other classes by now, or the project also returns
 * unlabelled samples
 */
export function withLabels(given: Splits, labels: Labels): Splits {
  const splits = inOrderOf(labels, given);
  const { train: pool, unlabelled } = splits;
  requirePool(pool);
  if (unlabelled !== undefined) {
    throw new Error(
      `data() returns the unlabelled samples "${unlabelled.name}" beside the pool "${pool.name}". Return them in ` +
        'the pool: all of its samples without a label are the unlabelled ones.',
    );
  }
  const isOfClasses = pool.targets instanceof Int32Array;
  // The pool's strata would be those of targets that are not used.
  const { lossWeights, strata: _, ...own } = subset(pool, Int32Array.from(labels.rows));
  const train = createDataset({
    ...own,
    ...asNumbers(own),
    targets: isOfClasses ? Int32Array.from(labels.targets) : Float32Array.from(labels.targets),
    ...(labels.weights === undefined
      ? lossWeights && { lossWeights }
      : { lossWeights: Float32Array.from(labels.weights) }),
  });
  return createSplits({ ...splits, train, unlabelled: pool });
}

/**
 * Labels and the search count on the order in which the pool had its classes, which another version, or another listing
 * of the same classes, may not give.
 */
function inOrderOf({ classNames }: Labels, splits: Splits): Splits {
  const names = splits.train.classNames;
  if (classNames === undefined || names === undefined) return splits;
  return withClassOrder(splits, names, classNames, 'the pool had when its search began');
}

/**
 * Labelled samples are few and trained on in many epochs: their bytes are scaled once, to the same numbers that each
 * batch would scale them to.
 */
function asNumbers({
  features,
  normalization,
  source,
}: Omit<Dataset, 'lossWeights' | 'strata'>): Pick<Dataset, 'features'> | object {
  if (!(features instanceof Uint8Array) || normalization !== undefined || source !== undefined) return {};
  if (features.length > mostValues) return {};
  return { features: Float32Array.from(features, (byte) => byte / 255) };
}

/** @throws Error where samples come as a stream, or have more than one target */
export function requirePool({ name, stream, targets, targetShape, length }: Dataset): void {
  if (stream !== undefined) {
    throw new Error(
      `The samples of "${name}" come as a stream, and a pool needs access to each of them. Give them in ` +
        'memory, or on disk.',
    );
  }
  if (targetShape === undefined && targets.length === length) return;
  throw new Error(
    `A sample of the pool "${name}" has ${targets.length / length} targets, and a search needs one. Return one ` +
      'target for each sample.',
  );
}
