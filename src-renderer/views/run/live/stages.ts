import { z } from 'zod';
import type { RankView, RunView } from '../../../../core/protocol/pages/run-views.ts';
import type { Device } from '../../../../core/protocol/machine/devices.ts';

/** What a rank of a pipeline holds of its model. */
interface HeldLayers {
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

/** The ranks on a node of a launch; `node` is null on one machine. */
interface RanksOfNode {
  node: string | null;
  ranks: RankView[];
}

/** The ranks of a run by node, in the order of the nodes' first ranks. One group where it has one node. */
export function groupByNode({ ranks, record }: Pick<RunView, 'ranks' | 'record'>): RanksOfNode[] {
  const nodes = new Map(record.plan.map(({ rank, device }) => [rank, device.node?.name ?? null]));
  const groups = Map.groupBy(ranks, ({ rank }) => nodes.get(rank) ?? null);
  return [...groups].map(([node, of]) => ({ node, ranks: of }));
}

/** A device's name below its node: `cuda:0` for `node2/cuda:0`, `cuda:0 of task 1` for `node2.1/cuda:0`. */
export function nameOnNode({ id, node }: Pick<Device, 'id' | 'node'>): string {
  const found = node === undefined ? null : /^(?:\.(\d+))?\/(.+)$/.exec(id.slice(node.name.length));
  if (found === null) return id;
  const [, task, name] = found;
  return task === undefined ? name : `${name} of task ${task}`;
}

/** The sum of what is known of some ranks; null if nothing is. */
export function sumOf(ranks: readonly RankView[], value: (rank: RankView) => number | null): number | null {
  const known = ranks.map(value).filter((one) => one !== null);
  return known.length === 0 ? null : known.reduce((sum, one) => sum + one, 0);
}
