import { z } from 'zod';
import { runConfigSchema } from './config.ts';
import { realNumber } from '../wire/numbers.ts';

/** The task of the process that reads a project's pool for a search (`workers/entries/read-pool.ts`). */
export const poolTaskSchema = z.strictObject({
  projectFolder: z.string(),
  dataFolders: z.strictObject({ lookup: z.string().nullable(), cache: z.string() }),
  config: runConfigSchema,
  /** The folder to write to. */
  output: z.string(),
  /** Whether the features are written too, for batches that compare candidates. */
  withFeatures: z.boolean(),
});
export type PoolTask = z.output<typeof poolTaskSchema>;

/** The files in the folder `pool` of a search. */
export const poolFiles = {
  description: 'pool.json',
  targets: 'pool.safetensors',
  /** The places of all N candidates: `pca` and `umap`, each F32 of shape `[N, 2]`. */
  map: 'map.safetensors',
} as const;

/** `pool.json`: what is known of the N candidates of a pool beside their targets, which are in `pool.safetensors`. */
export const poolSchema = z.strictObject({
  format: z.literal(1),
  name: z.string(),
  /** N. */
  samples: z.int().min(1),
  featureShape: z.array(z.int().min(1)),
  /** Number of classes; null where targets are values. */
  classCount: z.int().min(2).nullable(),
  classNames: z.array(z.string()).nullable(),
  /** Texts of each candidate by column, such as SMILES; each of length N. */
  texts: z.record(z.string(), z.array(z.string())),
  /** What the project left out of the pool, one sentence each. */
  excluded: z.array(z.string()),
  /** SHA-256 of `pool.safetensors`. */
  sha256: z.string(),
});
export type Pool = z.output<typeof poolSchema>;

export type PoolReply = { type: 'read' } | { type: 'failed'; message: string; stack: string };

/** The task of the process that draws molecules (`workers/entries/draw-molecules.ts`). */
export const drawingTaskSchema = z.strictObject({ smiles: z.array(z.string()).max(1000) });
export type DrawingTask = z.output<typeof drawingTaskSchema>;

export type DrawingReply =
  { type: 'drawn'; drawings: (MoleculeDrawing | null)[] } | { type: 'failed'; message: string; stack: string };

/** The structure of a molecule as lines and areas, without a background. Its colours are left to whoever shows it. */
export interface MoleculeDrawing {
  width: number;
  height: number;
  parts: DrawingPart[];
}

/** Shapes of one look. */
export interface DrawingPart {
  /** The path in SVG's syntax: letters, numbers, commas and spaces. */
  d: string;
  /** The atomic number of the element whose colour the shapes have; 0: that of text. */
  element: number;
  isFilled: boolean;
  /** 0: without an outline. */
  strokeWidth: number;
}

/** Elements that a drawing colours, by their atomic numbers: N, O, F, P, S, Cl, Br, I. */
export const coloredElements = [7, 8, 9, 15, 16, 17, 35, 53] as const;

/** The task of the process that maps the candidates of a pool (`workers/entries/map-pool.ts`). */
export const mapTaskSchema = poolTaskSchema.omit({ withFeatures: true }).extend({
  seed: z.int().min(0).max(0xffffffff),
});
export type MapTask = z.output<typeof mapTaskSchema>;

/** Metadata `explained` of the map: the shares of the variance along the two axes of `pca`, as a JSON array. */
export const explainedSchema = z.tuple([z.number(), z.number()]);

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
    /** Names of the classes in the order of their numbers; absent for values and for classes without names. */
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
