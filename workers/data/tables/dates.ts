const isoDate = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(Z|[+-]\d{2}:?\d{2})?)?$/;

/**
 * Milliseconds since 1970-01-01 UTC of an ISO 8601 date, with or without a time; without a zone it is UTC. NaN for other text, and for
 * days that do not exist.
 */
export function parseDate(text: string): number {
  const [whole, ...parts] = isoDate.exec(text) ?? [];
  if (whole === undefined) return Number.NaN;
  const [year, month, day, hour, minute, second] = parts
    .slice(0, 6)
    .map((part: string | undefined) => Number(part ?? 0));
  const midnight = new Date(0);
  midnight.setUTCFullYear(year, month - 1, day);
  const exists = midnight.getUTCMonth() === month - 1 && midnight.getUTCDate() === day;
  if (!exists || hour > 23 || minute > 59 || second > 59) return Number.NaN;
  const [, , , , , , fraction = '0', zone = 'Z'] = parts;
  const time = midnight.getTime() + ((hour * 60 + minute) * 60 + second) * 1000 + Number(`0.${fraction}`) * 1000;
  return time - offsetMs(zone);
}

function offsetMs(zone: string): number {
  if (zone === 'Z') return 0;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(-2));
  return (zone.startsWith('-') ? -1 : 1) * minutes * 60_000;
}
