import { z } from 'zod';
import { runConfigSchema } from './config.ts';

/** The task of the process that reads a project's pool for a search (`workers/entries/read-pool.ts`). */
export const poolTaskSchema = z.strictObject({
  projectFolder: z.string(),
  dataFolders: z.strictObject({ lookup: z.string().nullable(), cache: z.string() }),
  config: runConfigSchema,
  /** The folder to write to: `pool.safetensors` and `pool.json`. */
  output: z.string(),
  /** Whether the features are written too, for batches that compare candidates. */
  withFeatures: z.boolean(),
});
export type PoolTask = z.output<typeof poolTaskSchema>;

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
