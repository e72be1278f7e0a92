/**
 * Shares devices among places, where one trial trains at a time: each place has as many as there are for it, and with fewer devices than places several
 * share one.
 * @param devices ids, such as `cpu:0`
 * @returns a selection of devices for each place
 */
export function sharePlaces(devices: readonly string[], places: number): string[] {
  const each = Math.max(1, Math.floor(devices.length / places));
  return Array.from({ length: places }, (_, place) =>
    Array.from({ length: each }, (_unused, index) => devices[(place * each + index) % devices.length]).join(','),
  );
}
