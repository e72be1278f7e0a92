import type { Join } from '../../core/launch/task-messages.ts';
import type { Device, DeviceSelection, Placement } from '../../core/protocol/machine/devices.ts';
import { selectDevices } from '../devices/selection.ts';
import type { DeviceKind } from '../devices/selection-form.ts';

/** A task of the launch with what it can compute on. */
export type TaskOffer = Pick<Join, 'worldRank' | 'node' | 'localRank' | 'localSize' | 'devices' | 'isBound'>;

/**
 * The devices of all tasks, in the order of their world ranks. The selection applies on each node; the tasks of a node
 * share its devices out: device i goes to the task of local rank i mod the number of tasks there, unless the launcher
 * has bound each task to a part of the node.
 * @throws Error if a task has no such device, or tasks have devices of different kinds
 */
export function selectOnTasks(
  selection: DeviceSelection,
  offers: readonly TaskOffer[],
  kinds: readonly DeviceKind[],
): Device[] {
  const ids = new Set<string>();
  const all = offers.flatMap((offer) =>
    shareOut(selectOn(selection, offer, kinds), offer).map((device) => named(device, offer, ids)),
  );
  const other = all.find(({ kind }) => kind !== all[0].kind);
  if (other === undefined) return all;
  throw new Error(
    `One backend trains a whole run, and the nodes offer ${all[0].id} and ${other.id}. Name a kind that all ` +
      'nodes have, such as --devices cpu.',
  );
}

function selectOn(selection: DeviceSelection, { node, devices }: TaskOffer, kinds: readonly DeviceKind[]): Device[] {
  try {
    return selectDevices(selection, devices, kinds);
  } catch (error) {
    throw new Error(`On the node ${node}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

function shareOut(devices: readonly Device[], { localRank, localSize, isBound }: TaskOffer): readonly Device[] {
  if (isBound || devices.length < localSize) return devices;
  return devices.filter((_, i) => i % localSize === localRank);
}

/** `node2/cpu:0`; tasks that each see only their own GPU all call it cuda:0. */
function named(device: Device, { node, worldRank, localRank }: TaskOffer, ids: Set<string>): Device {
  const id = `${node}/${device.id}`;
  const unique = ids.has(id) ? `${node}.${localRank}/${device.id}` : id;
  ids.add(unique);
  return { ...device, id: unique, node: { name: node, task: worldRank } };
}

/** With fewer workers than devices, the tasks with most devices leave some free, so that all take part. */
export function spreadOver(devices: readonly Device[], workers: number): Device[] {
  const kept = [...devices];
  while (kept.length > workers) {
    const counts = Map.groupBy(kept, ({ node }) => node?.task);
    const [fullest] = [...counts.values()].sort((a, b) => b.length - a.length || taskOf(b[0]) - taskOf(a[0]));
    kept.splice(kept.indexOf(fullest[fullest.length - 1]), 1);
  }
  return kept;
}

/**
 * The placements of a wave, after tasks were lost: ranks of other tasks stay, and each worker of a lost one goes to the
 * device with the fewest workers. Ranks keep their numbers, so members keep their seeds, data and files.
 * @param devices of the tasks that are present
 */
export function moveRanks(wave: readonly Placement[], devices: readonly Device[]): Placement[] {
  const present = new Map(devices.map((device) => [device.id, device]));
  const workers = new Map(devices.map(({ id }) => [id, new Set<string>()]));
  for (const placement of wave) workers.get(placement.device.id)?.add(workerOf(placement));
  const moved = new Map<string, Device>();
  return wave.map((placement) => {
    if (present.has(placement.device.id)) return placement;
    const worker = workerOf(placement);
    const device = moved.get(worker) ?? freest(devices, workers);
    moved.set(worker, device);
    workers.get(device.id)?.add(worker);
    return { ...placement, device };
  });
}

/**
 * The placements of a wave after nodes have joined: while a device has two workers more than another, its last one
 * moves there. Nothing moves that would not become faster.
 */
export function evenOut(wave: readonly Placement[], devices: readonly Device[]): Placement[] {
  const workers = new Map(devices.map(({ id }) => [id, new Set<string>()]));
  for (const placement of wave) workers.get(placement.device.id)?.add(workerOf(placement));
  const moved = new Map<string, Device>();
  for (;;) {
    const target = freest(devices, workers);
    const fullest = devices.reduce((most, device) => (load(device, workers) > load(most, workers) ? device : most));
    if (load(fullest, workers) < load(target, workers) + 2) break;
    const last = [...(workers.get(fullest.id) ?? [])].at(-1) ?? '';
    workers.get(fullest.id)?.delete(last);
    workers.get(target.id)?.add(last);
    moved.set(last, target);
  }
  return wave.map((placement) => {
    const device = moved.get(workerOf(placement));
    return device === undefined ? placement : { ...placement, device };
  });
}

/** The ranks of a stack have one worker. */
function workerOf({ rank, stack }: Placement): string {
  return stack === undefined ? `rank ${rank}` : `stack ${stack}`;
}

type Workers = ReadonlyMap<string, ReadonlySet<string>>;

function load({ id }: Device, workers: Workers): number {
  return workers.get(id)?.size ?? 0;
}

function freest(devices: readonly Device[], workers: Workers): Device {
  return devices.reduce((best, device) => (load(device, workers) < load(best, workers) ? device : best));
}

/** The world rank of the task that a device belongs to; 0 on one machine. */
export function taskOf({ node }: Pick<Device, 'node'>): number {
  return node?.task ?? 0;
}

/** The numbers of nodes with which a launch may train. */
export interface NodeRange {
  least: number;
  most: number;
  /** How long nodes that are late hold up the others once enough are there, in ms. */
  waitMs: number;
}

/** The text that `--nodes` takes: `2:4:30`. */
export function nodesText({ least, most, waitMs }: NodeRange): string {
  return `${least}:${most}:${waitMs / 1_000}`;
}
