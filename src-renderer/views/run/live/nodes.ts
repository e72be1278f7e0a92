import type { Device } from '../../../../core/protocol/machine/devices.ts';
import type { RankView, RunView } from '../../../../core/protocol/pages/run-views.ts';

/** The ranks on a node of a launch; `node` is null on one machine. */
export interface RanksOfNode {
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
