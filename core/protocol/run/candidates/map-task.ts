import { z } from 'zod';
import { poolTaskSchema } from '../pool-task.ts';

/** The task of the process that maps the candidates of a pool (`workers/entries/map-pool.ts`). */
export const mapTaskSchema = poolTaskSchema.omit({ withFeatures: true }).extend({
  seed: z.int().min(0).max(0xffffffff),
});
export type MapTask = z.output<typeof mapTaskSchema>;

/** The file of a search's folder with the places of all N candidates: `pca` and `umap`, each F32 of shape `[N, 2]`. */
export const mapFile = 'map.safetensors';

/** Its metadata `explained`: the shares of the variance along the two axes of `pca`, as a JSON array. */
export const explainedSchema = z.tuple([z.number(), z.number()]);
