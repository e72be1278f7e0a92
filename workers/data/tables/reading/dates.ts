import { type DateFormat, dateFormats } from '../../../../core/preprocessing/reading.ts';

const time = String.raw`(?:[T ]+(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(?: ?([AaPp])[Mm])?(Z|[+-]\d{2}:?\d{2})?)?`;
const isoDate = new RegExp(`^(\\d{4})-(\\d{2})-(\\d{2})${time}$`);
const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
/** Two digits of a year are 1969 to 2068, as in POSIX. */
const firstYear = 69;

interface Pattern {
  expression: RegExp;
  /** Positions of year, month and day among the three parts. */
  order: readonly [number, number, number];
}

const patterns = new Map<DateFormat, Pattern>(dateFormats.map((format) => [format, patternOf(format)]));

function patternOf(format: DateFormat): Pattern {
  const parts = format.split(/[/. -]/);
  const separator = format.charAt(parts[0].length);
  const places = parts.map((part) => {
    if (part === 'MMM') return '([A-Za-z]{3})';
    return part.startsWith('Y') ? `(\\d{${part.length}})` : String.raw`(\d{1,2})`;
  });
  const at = (letter: string) => parts.findIndex((part) => part.startsWith(letter));
  return {
    expression: new RegExp(`^${places.join(separator === '.' ? String.raw`\.` : separator)}${time}$`),
    order: [at('Y'), at('M'), at('D')],
  };
}

/**
 * Milliseconds since 1970-01-01 UTC of a date, with or without a time; without a zone it is UTC. NaN for other text,
 * and for days that do not exist.
 * @param format null: ISO 8601, which is read in any case, as no other format looks like it
 */
export function parseDate(text: string, format: DateFormat | null = null): number {
  const iso = isoDate.exec(text);
  if (iso !== null) return timeOf(Number(iso[1]), Number(iso[2]), Number(iso[3]), iso.slice(4));
  const { expression, order } = (format === null ? undefined : patterns.get(format)) ?? {};
  const found = expression?.exec(text);
  if (!found || order === undefined) return Number.NaN;
  const [year, month, day] = order.map((at) => found[at + 1]);
  return timeOf(yearOf(year), monthOf(month), Number(day), found.slice(4));
}

function yearOf(text: string): number {
  if (text.length > 2) return Number(text);
  return Number(text) + (Number(text) < firstYear ? 2000 : 1900);
}

function monthOf(text: string): number {
  const month = months.indexOf(text.toLowerCase()) + 1;
  return month > 0 ? month : Number(text);
}

function timeOf(year: number, month: number, day: number, clock: readonly (string | undefined)[]): number {
  const [hourText, minute, second] = [clock[0] ?? '0', Number(clock[1] ?? 0), Number(clock[2] ?? 0)];
  const [fraction, half, zone] = [clock[3] ?? '0', clock[4]?.toLowerCase(), clock[5] ?? 'Z'];
  const written = Number(hourText);
  const hour = half === undefined ? written : (written % 12) + (half === 'p' ? 12 : 0);
  const midnight = new Date(0);
  midnight.setUTCFullYear(year, month - 1, day);
  const exists = midnight.getUTCMonth() === month - 1 && midnight.getUTCDate() === day;
  const isTime = hour <= 23 && minute <= 59 && second <= 59 && (half === undefined || (written >= 1 && written <= 12));
  if (!exists || !isTime) return Number.NaN;
  const milliseconds = ((hour * 60 + minute) * 60 + second) * 1000 + Number(`0.${fraction}`) * 1000;
  return midnight.getTime() + milliseconds - offsetMs(zone);
}

function offsetMs(zone: string): number {
  if (zone === 'Z') return 0;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(-2));
  return (zone.startsWith('-') ? -1 : 1) * minutes * 60_000;
}

/** The formats in which all texts are dates, without ISO 8601. */
export function fittingDateFormats(texts: readonly string[], wanted: DateFormat | null): DateFormat[] {
  const candidates = wanted === null ? dateFormats : [wanted];
  return candidates.filter((format) => texts.every((text) => !Number.isNaN(parseDate(text, format))));
}

/** The format, or null for ISO 8601, in which most of the texts are dates; undefined where fewer than half are. */
export function mostlyDates(texts: readonly string[]): DateFormat | null | undefined {
  const withDigits = texts.filter((text) => /\d/.test(text));
  if (2 * withDigits.length < texts.length) return undefined;
  return [null, ...dateFormats].find((format) => {
    const dates = withDigits.filter((text) => !Number.isNaN(parseDate(text, format))).length;
    return dates > 0 && 2 * dates >= texts.length;
  });
}
