import { type DateFormat, dateFormats } from '../../../../core/preprocessing/reading.ts';

const time = String.raw`(?:[T ]+(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(?: ?([AaPp])[Mm])?(Z|[+-]\d{2}:?\d{2}| (?:GMT|UTC))?)?`;
const isoDate = new RegExp(`^(\\d{4})-(\\d{2})-(\\d{2})${time}$`);
const weekday = String.raw`(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?,? )?`;
const months = 'january february march april may june july august september october november december'.split(' ');
const monthName = `(${months.map((name) => `${name.slice(0, 3)}(?:${name.slice(3)})?`).join('|')}|sept)\\.?`;
/** Two digits of a year are 1969 to 2068, as in POSIX. */
const firstYear = 69;

interface Pattern {
  expression: RegExp;
  /** Positions of year, month and day among the parts; -1: it has none. */
  order: readonly [number, number, number];
}

const patterns = new Map<DateFormat, Pattern>(dateFormats.map((format) => [format, patternOf(format)]));

function patternOf(format: DateFormat): Pattern {
  const parts = format.match(/Y+|M+|D+/g) ?? [];
  const areApart = /[^A-Z]/.test(format);
  const source = format.replaceAll(/Y+|MMM|MM|DD|[., ]+/g, (part) => {
    if (part === 'MMM') return monthName;
    if (part.startsWith('Y')) return `(\\d{${part.length}})`;
    if (part === 'MM' || part === 'DD') return areApart ? String.raw`(\d{1,2})` : String.raw`(\d{2})`;
    return part === ', ' ? ',? ' : part.replace('.', String.raw`\.`);
  });
  const at = (letter: string) => parts.findIndex((part) => part.startsWith(letter));
  return { expression: new RegExp(`^${weekday}${source}${time}$`, 'i'), order: [at('Y'), at('M'), at('D')] };
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
  const [year, month, day = '1'] = order.map((at) => (at < 0 ? undefined : found[at + 1]));
  const clock = found.slice(1 + order.filter((at) => at >= 0).length);
  return timeOf(yearOf(year ?? ''), monthOf(month ?? ''), Number(day), clock);
}

function yearOf(text: string): number {
  if (text.length > 2) return Number(text);
  return Number(text) + (Number(text) < firstYear ? 2000 : 1900);
}

function monthOf(text: string): number {
  const month = months.findIndex((name) => name.startsWith(text.slice(0, 3).toLowerCase())) + 1;
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
  if (!/^[+-]/.test(zone)) return 0;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(-2));
  return (zone.startsWith('-') ? -1 : 1) * minutes * 60_000;
}

/** The formats in which all texts are dates, without ISO 8601. */
export function fittingDateFormats(texts: readonly string[], wanted: DateFormat | null): DateFormat[] {
  const candidates = wanted === null ? dateFormats : [wanted];
  return candidates.filter((format) => texts.every((text) => !Number.isNaN(parseDate(text, format))));
}

/**
 * The format, or null for ISO 8601, in which most of the texts are dates, or null where most look like dates in a form
 * that is not read; undefined where fewer than half are.
 */
export function mostlyDates(texts: readonly string[]): DateFormat | null | undefined {
  const withDigits = texts.filter((text) => /\d/.test(text));
  if (2 * withDigits.length < texts.length) return undefined;
  const areMost = (isDate: (text: string) => boolean): boolean => {
    const dates = withDigits.filter(isDate).length;
    return dates > 0 && 2 * dates >= texts.length;
  };
  const found = [null, ...dateFormats].find((format) => areMost((text) => !Number.isNaN(parseDate(text, format))));
  return found === undefined && areMost(looksLikeDate) ? null : found;
}

/** The first letters of the months in languages of which many tables are. */
const monthStarts = new Set(
  ['en', 'de', 'fr', 'es', 'it', 'pt', 'nl'].flatMap((language) => {
    const names = new Intl.DateTimeFormat(language, { month: 'long', timeZone: 'UTC' });
    return months.map((_, month) => names.format(Date.UTC(2026, month)).slice(0, 3).toLowerCase());
  }),
);

/**
 * Whether a text is a day, a month, a week, a quarter or half of a year: 15. März 2021, mai 2021, 2021-W05, Q1/2021.
 */
function looksLikeDate(text: string): boolean {
  if (/^(?:\d{4}[-/. ]?(?:[QH][1-4]|W\d{1,2})|[QH][1-4][-/. ]?\d{4})(?:-\d)?$/i.test(text)) return true;
  const [, word] =
    /^(?:\p{L}+\.?,? )?(?:\d{1,2}\.?[- ](?:de )?)?(\p{L}{3,})\.?[- ](?:\d{1,2},? )?(?:de )?\d{4}\b/u.exec(text) ?? [];
  return word !== undefined && monthStarts.has(word.slice(0, 3).toLowerCase());
}
