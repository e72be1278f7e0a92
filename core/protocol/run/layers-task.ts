import { z } from 'zod';
import { checkpointKeySchema } from '../pages/rpc.ts';
import { runSourceSchema } from './set-evaluation.ts';

/** What the process that writes checkpoints as layers models (`workers/entries/write-layers.ts`) is asked. */
export const layersTaskSchema = runSourceSchema.extend({
  members: z.array(checkpointKeySchema).min(1),
  /** An empty folder: gets `rank-<r>/<name>/model.json` and `weights.bin`. */
  into: z.string(),
});
export type LayersTask = z.output<typeof layersTaskSchema>;

export type LayersReply = { type: 'written'; warnings: string[] } | { type: 'failed'; message: string; stack: string };
