import { z } from 'zod';

export const warmStartSchema = z.strictObject({
  checkpoint: z
    .string()
    .default('')
    .meta({
      help:
        'Checkpoint (.safetensors) to start from; `{rank}` is replaced by the rank, else all members start from the same one. A relative path starts ' +
        'at the current folder.',
      replaces: 'strategy.warmStart',
    }),
  strict: z
    .boolean()
    .default(true)
    .meta({
      help:
        'Refuse a checkpoint whose weights are not exactly those of the model; otherwise weights of the same name and shape are loaded, and the run ' +
        'reports the others.',
    }),
  noise: z.number().min(0).default(0).meta({
    help: 'Noise added to the trained weights, as a fraction of the norm of each tensor (nu).',
    replaces: 'strategy.noise',
  }),
});
export type WarmStartConfig = z.output<typeof warmStartSchema>;

/** A configuration of an earlier version, in which only `hdet` had a warm start. */
export function withMovedWarmStart(config: unknown): unknown {
  if (!isObject(config) || !isObject(config.strategy) || !('warmStart' in config.strategy)) return config;
  const { warmStart: checkpoint, noise = 0, ...strategy } = config.strategy;
  return { ...config, strategy, warmStart: { checkpoint, noise } };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
