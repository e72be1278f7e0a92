import { pipelinePlace } from '../../core/pipeline/schedule.ts';
import type { Device, Placement } from '../../core/protocol/machine/devices.ts';
import type { RunConfig } from '../../core/protocol/run/config.ts';
import type { RankCount } from '../../core/protocol/run/strategies/ranks-and-members.ts';

type PlacementRequest = {
  /** Ranks to place. */
  ranks: RankCount;
  /** Selected devices (D), at least one. */
  devices: readonly Device[];
  /** `share`: all ranks at once, several per device. `waves`: at most one worker per device at a time. */
  placement: 'share' | 'waves';
  /** Ranks that one worker trains (k); default: 1. */
  membersPerWorker?: number;
  /** Whether the ranks of a worker are one computation, also where it has a single one; default: with several ranks. */
  isStacked?: boolean;
  /** Ranks that share the layers of one model (S); default: 1. They get different devices. */
  stages?: number;
  /** Threads of each worker (default: 1); `auto`: the cores that no worker of its wave has, shared equally. */
  threads?: RunConfig['threads'];
};

/** The parts of a kernel become too small for more threads. */
const mostAutomaticThreads = 8;

/**
 * Places worker w = floor(r / k) of rank r on device w mod D, and with `waves` in wave floor(w / D). With fewer workers
 * than devices, some devices stay free. Pipelined members are placed one after the other: rank r = stage · M/S + member
 * is worker member · S + stage.
 */
export function planPlacement(request: PlacementRequest): Placement[] {
  const { ranks, devices, placement, membersPerWorker = 1, stages = 1, threads = 1 } = request;
  const { isStacked = membersPerWorker > 1 } = request;
  if (devices.length === 0) throw new Error(`Placing ${ranks} ranks needs at least one device. Select one.`);
  const plan = Array.from({ length: ranks }, (_, rank): Placement => {
    const { member, stage } = pipelinePlace(rank, ranks, stages);
    const worker = stages === 1 ? Math.floor(rank / membersPerWorker) : member * stages + stage;
    const wave = placement === 'waves' ? Math.floor(worker / devices.length) : 0;
    const place = { rank, wave, device: devices[worker % devices.length] };
    return isStacked ? { ...place, stack: worker } : place;
  });
  return withThreads(plan, devices, threads);
}

function withThreads(plan: Placement[], devices: readonly Device[], wanted: RunConfig['threads']): Placement[] {
  const isOnCores = devices.every(({ kind }) => kind === 'cpu');
  const threadsIn = (wave: number): number => {
    if (wanted !== 'auto') return wanted;
    const workers = new Set(
      plan.filter((other) => other.wave === wave).map(({ rank, stack }) => stack ?? `rank ${rank}`),
    );
    return Math.min(mostAutomaticThreads, Math.floor(devices.length / workers.size));
  };
  return plan.map((place) => {
    const threads = isOnCores ? threadsIn(place.wave) : 1;
    return threads > 1 ? { ...place, threads } : place;
  });
}

/**
 * The plan for the terminal: one line per device and wave, in aligned columns. Waves are counted from 1. Ranks that are
 * one computation are in brackets: `ranks [0, 1], [4, 5]`.
 */
export function describePlan(plan: readonly Placement[]): string[] {
  const waveCount = Math.max(...plan.map((placement) => placement.wave)) + 1;
  const places = Map.groupBy(plan, ({ wave, device }) => `${wave} ${device.id}`);
  const table = [...places.values()].map((placements) => {
    const [{ wave, device }] = placements;
    const ranks = describeRanks(placements);
    const { threads } = placements[0];
    const each = placements.length === 1 ? '' : ' each';
    const columns = [
      device.id,
      device.name,
      `${placements.length === 1 ? 'rank' : 'ranks'} ${ranks}${threads === undefined ? '' : `, ${threads} threads${each}`}`,
    ];
    return waveCount === 1 ? columns : [`wave ${wave + 1} of ${waveCount}`, ...columns];
  });
  return alignColumns(table);
}

function describeRanks(placements: readonly Placement[]): string {
  const workers = Map.groupBy(placements, ({ rank, stack }) => stack ?? `rank ${rank}`).values();
  const parts = [...workers].map((ofWorker) => {
    const ranks = ofWorker.map(({ rank }) => rank).join(', ');
    return ofWorker.length === 1 ? ranks : `[${ranks}]`;
  });
  return parts.join(', ');
}

function alignColumns(table: string[][]): string[] {
  const widths = table.reduce<number[]>((so, row) => row.map((cell, i) => Math.max(cell.length, so[i] ?? 0)), []);
  return table.map((row) => row.map((cell, i) => (i < row.length - 1 ? cell.padEnd(widths[i]) : cell)).join('  '));
}

/**
 * Shares devices among places, where one trial trains at a time, or several in one worker: each place has as many as
 * there are for it, and with fewer devices than places several share one.
 * @param devices ids, such as `cpu:0`
 * @param isOneEach whether a place takes one device, because a worker computes on one
 * @returns a selection of devices for each place
 */
export function sharePlaces(devices: readonly string[], places: number, isOneEach = false): string[] {
  const each = isOneEach ? 1 : Math.max(1, Math.floor(devices.length / places));
  return Array.from({ length: places }, (_, place) =>
    Array.from({ length: each }, (_unused, index) => devices[(place * each + index) % devices.length]).join(','),
  );
}
