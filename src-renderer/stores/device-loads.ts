import type { DeviceLoadColumns, LoadSample } from '../../core/protocol/machine/device-loads.ts';

/**
 * The loads with one more sample. Samples at or before a device's last one are left out: they came with what was read from disk while
 * the update was under way. There is one a second, so copying costs nothing worth saving.
 */
export function withLoads(
  columns: ReadonlyMap<string, DeviceLoadColumns>,
  { time, loads }: LoadSample,
): Map<string, DeviceLoadColumns> {
  const atMs = Date.parse(time);
  const grown = new Map(columns);
  for (const { device, load, memoryUsedBytes } of loads) {
    const before = columns.get(device) ?? emptyColumns(device);
    if (before.timeMs.length > 0 && before.timeMs[before.timeMs.length - 1] >= atMs) continue;
    grown.set(device, {
      device,
      timeMs: appended(before.timeMs, atMs),
      load: appended(before.load, load ?? Number.NaN),
      memoryBytes: appended(before.memoryBytes, memoryUsedBytes ?? Number.NaN),
    });
  }
  return grown;
}

function emptyColumns(device: string): DeviceLoadColumns {
  const none = new Float64Array();
  return { device, timeMs: none, load: none, memoryBytes: none };
}

function appended(column: Float64Array, value: number): Float64Array {
  const longer = new Float64Array(column.length + 1);
  longer.set(column);
  longer[column.length] = value;
  return longer;
}
