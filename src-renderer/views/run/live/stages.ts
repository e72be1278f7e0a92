import { z } from 'zod';
import type { RunView } from '../../../../core/protocol/pages/run-views.ts';

/** What a rank of a pipeline holds of its model. */
export interface HeldLayers {
  /** `dense_1 to dense_2`. */
  layers: string;
  weights: number;
  /** Of the whole model's weights, from 0 to 1. */
  share: number;
}

const stagesSchema = z.object({
  stages: z.array(
    z.object({ ranks: z.array(z.int()), layers: z.tuple([z.string(), z.string()]), weights: z.number().min(0) }),
  ),
});

/** The layers of each rank, by rank, as the last attempt cut the model; empty where it has not been cut. */
export function heldLayers({ events }: Pick<RunView, 'events'>): ReadonlyMap<number, HeldLayers> {
  const cut = stagesSchema.safeParse(events.findLast(({ kind }) => kind === 'stages')?.data);
  if (!cut.success) return new Map();
  const { stages } = cut.data;
  const all = stages.reduce((sum, { weights }) => sum + weights, 0);
  return new Map(
    stages.flatMap(({ ranks, layers: [first, last], weights }) => {
      const held = { layers: first === last ? first : `${first} to ${last}`, weights, share: weights / all };
      return ranks.map((rank) => [rank, held] as const);
    }),
  );
}
