import type { RankView, RunView } from '../../../../core/protocol/pages/run-views.ts';
import { ownSummary, type RunEvent, type RunRecord } from '../../../../core/protocol/run/record.ts';
import type { MetricColumns } from '../../../stores/metric-columns.ts';
import { z } from 'zod';
import type { Device } from '../../../../core/protocol/machine/devices.ts';

/** A moment of a run with a known step and time. */
export interface TimeAnchor {
  step: number;
  /** Milliseconds since 1970. */
  timeMs: number;
}

/**
 * The times at which a run reached steps, from its record and events (each checkpoint is one), because metrics on disk
 * have no times. Steps and times ascend: for steps that a resumed run repeats, or that ranks reach at different times,
 * the first time counts.
 *
 * @param now the current position of a running run; null for a run that has ended
 */
function timeAnchors(record: RunRecord, events: readonly RunEvent[], now: TimeAnchor | null): TimeAnchor[] {
  const start = { step: 0, timeMs: startMs(record) };
  const seen = events.flatMap(({ step, time }) => (step === null ? [] : [{ step, timeMs: Date.parse(time) }]));
  const { endedAt } = record;
  const summary = ownSummary(record);
  const end = summary === null || endedAt === null ? now : { step: summary.steps, timeMs: Date.parse(endedAt) };
  const sorted = [start, ...seen, ...(end === null ? [] : [end])].sort((left, right) => left.timeMs - right.timeMs);
  const rising: TimeAnchor[] = [];
  for (const anchor of sorted)
    if (rising.length === 0 || anchor.step > rising[rising.length - 1].step) rising.push(anchor);
  return rising;
}

/** The anchors of a run now: a running one is at the step of its furthest rank. */
export function anchorsOf({ record, events, ranks }: RunView): TimeAnchor[] {
  const step = Math.max(0, ...ranks.map((rank) => rank.step));
  return timeAnchors(record, events, record.status === 'running' ? { step, timeMs: Date.now() } : null);
}

/** Milliseconds since 1970 at a step, interpolated between the anchors; beyond the last anchor, its time. */
export function timeMsAt(step: number, anchors: readonly TimeAnchor[]): number {
  const next = anchors.findIndex((anchor) => anchor.step >= step);
  if (next === -1) return anchors[anchors.length - 1].timeMs;
  if (next === 0) return anchors[0].timeMs;
  const [before, after] = [anchors[next - 1], anchors[next]];
  const share = (step - before.step) / (after.step - before.step);
  return before.timeMs + share * (after.timeMs - before.timeMs);
}

/** Milliseconds since 1970 at which the first attempt started. */
export function startMs({ attempts, createdAt }: RunRecord): number {
  return Date.parse(attempts[0]?.startedAt ?? createdAt);
}

/** Long enough to contain a few evaluations. */
const windowMs = 60_000;
/** A shorter time gives no reliable forecast. */
const shortestWindowMs = 1_000;

/**
 * The longest time that a run will still train, in ms (an early stop ends it sooner); null while unknown. Assumes that
 * ranks of later waves take as long as those of this one.
 *
 * @param lossesOf the training losses of a rank, whose times give its pace
 */
export function remainingMs(
  { ranks, totalSteps }: Pick<RunView, 'ranks' | 'totalSteps'>,
  lossesOf: (rank: number) => MetricColumns | undefined,
): number | null {
  if (totalSteps === null) return null;
  const slowest = slowestRank(ranks);
  const losses = slowest && lossesOf(slowest.rank);
  if (!slowest || !losses) return null;
  const pace = stepsPerMs(losses);
  if (pace === null) return null;
  const lastWave = Math.max(...ranks.map(({ wave }) => wave));
  const steps = totalSteps - slowest.step + (lastWave - slowest.wave) * totalSteps;
  return Math.max(0, steps) / pace;
}

/** The rank of the running wave with the fewest steps; null if none trains. */
function slowestRank(ranks: readonly RankView[]): RankView | null {
  const active = ranks.filter(({ state }) => state === 'training' || state === 'evaluating');
  return active.reduce<RankView | null>(
    (slowest, rank) => (slowest === null || rank.step < slowest.step ? rank : slowest),
    null,
  );
}

function stepsPerMs({ step, timeMs, length }: MetricColumns): number | null {
  const last = length - 1;
  let first = last;
  while (first > 0 && timeMs[last] - timeMs[first - 1] <= windowMs) first -= 1;
  const elapsedMs = timeMs[last] - timeMs[first];
  return elapsedMs >= shortestWindowMs ? (step[last] - step[first]) / elapsedMs : null;
}

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
