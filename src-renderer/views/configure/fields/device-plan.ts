import type { Device, Placement } from '../../../../core/protocol/machine/devices.ts';

/** A device of the plan and the ranks that it trains, by wave. */
export interface PlannedDevice {
  device: Device;
  waves: {
    wave: number;
    /** Ranks by worker. A worker trains its ranks as one computation. */
    workers: number[][];
  }[];
}

/** The most ranks that the device trains at the same time, in any wave. */
export function ranksAtOnce({ waves }: PlannedDevice): number {
  return Math.max(0, ...waves.map(({ workers }) => workers.flat().length));
}

/** The plan by device, in the order of their first ranks. */
export function plannedDevices(plan: readonly Placement[]): PlannedDevice[] {
  const byDevice = Map.groupBy(plan, ({ device }) => device.id);
  return [...byDevice.values()].map((placements) => ({
    device: placements[0].device,
    waves: [...Map.groupBy(placements, ({ wave }) => wave)]
      .sort(([a], [b]) => a - b)
      .map(([wave, ofWave]) => ({ wave, workers: ranksByWorker(ofWave) })),
  }));
}

function ranksByWorker(placements: readonly Placement[]): number[][] {
  const workers = Map.groupBy(placements, ({ rank, stack }) => stack ?? `rank ${rank}`);
  return [...workers.values()].map((ofWorker) => ofWorker.map(({ rank }) => rank));
}
