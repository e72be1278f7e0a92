/**
 * Shares devices among places, where one trial trains at a time, or several in one worker: each place has as many as there are for it, and with fewer
 * devices than places several share one.
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
