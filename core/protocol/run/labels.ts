import { z } from 'zod';
import { realNumber } from '../wire/numbers.ts';

/**
 * The labels that a run trains on, where its project's training split is a pool of which only some samples are labelled
 * (`tutti discover`): the file `labels.json` in the run's folder.
 */
export const labelsSchema = z
  .strictObject({
    format: z.literal(1),
    /** Samples of the project's training split, each once, in the order in which they were labelled. */
    rows: z.array(z.int().min(0)).min(1),
    /** The label of each: a class, or a value. */
    targets: z.array(realNumber),
    /**
     * Names of the classes in the order of their numbers; absent: values, classes without names, and files of earlier
     * versions.
     */
    classNames: z.array(z.string()).optional(),
    /** The weight of each in the loss; absent: 1. */
    weights: z.array(z.number().min(0)).optional(),
  })
  .refine(
    ({ rows, targets, weights = rows }) => targets.length === rows.length && weights.length === rows.length,
    'rows, targets and weights must have the same length',
  );
export type Labels = z.output<typeof labelsSchema>;

/** What the record of such a run keeps: how many labels there are, and the SHA-256 of the file. */
export const labelsRecordSchema = z.strictObject({ count: z.int().min(1), sha256: z.string().regex(/^[\da-f]{64}$/) });

/** The file of a run's labels, in its folder. */
export const labelsFile = 'labels.json';
