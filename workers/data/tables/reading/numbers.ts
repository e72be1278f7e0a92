import { clockFormat, isClock, type NumberFormat } from '../../../../core/preprocessing/reading.ts';
import { isDecimal } from '../cells.ts';
import { fittingDateFormats } from './dates.ts';

/** Signs of money and shares, in front of a number or behind it. */
const unitSign = /[$€£¥₹%‰]/u;
/** The word behind a number: kg, °C, mg/dL, m², km/h; not the end of an ordinal number (3rd). */
const unitWord = /\d\s*(?!(?:st|nd|rd|th)$)(°?\p{L}+[23²³]?(?:[/·]\p{L}+[23²³]?)*|°)$/u;
/** The code of a currency in front of a number: USD 12. */
const unitCode = /^([A-Z]{3})\s?[-+]?\d/u;
const currencies = new Set(Intl.supportedValuesOf('currency'));
const blanks = /[ \u00a0\u2009\u202f]/gu;
const apostrophes = /['’]/gu;
/** The minus of typography, as in tables of web pages. */
const minus = '\u2212';

const signs: readonly Omit<NumberFormat, 'unit'>[] = [
  { decimal: '.', grouping: '' },
  { decimal: ',', grouping: '' },
  { decimal: '.', grouping: ',' },
  { decimal: ',', grouping: '.' },
  { decimal: '.', grouping: ' ' },
  { decimal: ',', grouping: ' ' },
  { decimal: '.', grouping: "'" },
  { decimal: ',', grouping: "'" },
];
const escaped = { '': '', '.': String.raw`\.`, ',': ',', ' ': ' ', "'": "'" } as const;
const grouped = new Map(
  signs.map(({ decimal, grouping }) => [
    decimal + grouping,
    // Groups begin with a digit from 1, so that 0,125 is no thousand.
    new RegExp(`^[+-]?[1-9]\\d{0,2}(?:${escaped[grouping]}\\d{3})+(?:${escaped[decimal]}\\d*)?$`),
  ]),
);

/** A time of day, without a day. */
const clock = /^(\d{1,2}):([0-5]\d)(?::([0-5]\d(?:\.\d{1,9})?))?(?: ?([AaPp])\.?[Mm]\.?)?$/;
/** As in Italy: 18.00.00. */
const clockOfPoints = /^(\d{1,2})\.([0-5]\d)\.([0-5]\d)$/;

/** Hours since midnight of a time of day; null for other text. */
function parseClock(text: string): number | null {
  const [, hour, minute, second = '0', half] = clock.exec(text) ?? clockOfPoints.exec(text) ?? [];
  if (hour === undefined) return null;
  const written = Number(hour);
  if (half === undefined ? written > 24 : written < 1 || written > 12) return null;
  const hours = half === undefined ? written : (written % 12) + (half.toLowerCase() === 'p' ? 12 : 0);
  return hours + Number(minute) / 60 + Number(second) / 3600;
}

/** A number that is written in a format; null where the text is none, or beyond float32. */
export function parseNumber(text: string, format: NumberFormat | null): number | null {
  if (format === null) return isDecimal(text) ? Number(text) : null;
  if (isClock(format)) return parseClock(text);
  const body = withoutUnit(text, format.unit);
  return body === null ? null : parseBody(body, format);
}

function parseBody(body: string, { decimal, grouping }: Omit<NumberFormat, 'unit'>): number | null {
  const plain = body.replaceAll(blanks, ' ').replaceAll(apostrophes, "'").replace(minus, '-');
  const isGrouped = grouping !== '' && (grouped.get(decimal + grouping)?.test(plain) ?? false);
  const digits = isGrouped ? plain.replaceAll(grouping, '') : plain;
  if (decimal === ',' && digits.includes('.')) return null;
  const text = decimal === ',' ? digits.replace(',', '.') : digits;
  return isDecimal(text) ? Number(text) : null;
}

/** The text without its unit, which stands in front or behind; null where it has another one or none. */
function withoutUnit(text: string, own: string): string | null {
  if (own === '') return text;
  const parts = text.split(own);
  if (parts.length !== 2) return null;
  const [before, after] = parts.map((part) => part.trim());
  if (after === '') return before;
  return ['', '-', '+', minus].includes(before) ? before + after : null;
}

function unitOf(text: string): string {
  const code = unitCode.exec(text)?.[1];
  if (code !== undefined && currencies.has(code)) return code;
  return unitSign.exec(text)?.[0] ?? unitWord.exec(text.trimEnd())?.[1] ?? '';
}

/** The unit that most texts have; of several such, the first. One letter at a number (5a, 5b) is that of a code. */
function commonestUnit(texts: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const text of texts) {
    const unit = /\d\p{L}$/u.test(text) ? '' : unitOf(text);
    counts.set(unit, (counts.get(unit) ?? 0) + 1);
  }
  return [...counts].reduce((most, own) => (own[1] > most[1] ? own : most), ['', 0])[0];
}

/**
 * The formats in which all texts are numbers, each with other values than those before it.
 * @param decimal the sign that the user names; null: any
 */
export function fittingNumberFormats(texts: readonly string[], decimal: '.' | ',' | null): (NumberFormat | null)[] {
  if (decimal !== ',' && texts.every(isDecimal)) {
    const maybeThousands = decimal === null && isGroupedBy(texts, '.');
    return maybeThousands ? [null, { decimal: ',', grouping: '.', unit: '' }] : [null];
  }
  const areClocks = texts.length > 0 && texts.every((text) => parseClock(text) !== null);
  // 18.05.21 is a day, unless another text of the column cannot be one.
  if (areClocks && fittingDateFormats(texts, null).length === 0) return [clockFormat];
  return formatsFor(decimal, texts.length === 0 ? '' : unitOf(texts[0])).filter(
    (format) =>
      texts.every((text) => parseNumber(text, format) !== null) &&
      usesSigns(texts, format, { isNamed: decimal !== null }),
  );
}

/** Whether every text with that sign has it between groups of three digits alone, and one has it. */
function isGroupedBy(texts: readonly string[], sign: '.' | ','): boolean {
  const pattern = grouped.get(sign === '.' ? ',.' : '.,');
  return (
    texts.some((text) => text.includes(sign)) && texts.every((text) => !text.includes(sign) || pattern?.test(text))
  );
}

function formatsFor(decimal: '.' | ',' | null, unit: string): NumberFormat[] {
  return signs
    .filter((format) => decimal === null || format.decimal === decimal)
    .map((format) => ({ ...format, unit }));
}

/**
 * A grouping that never occurs is none, and a decimal sign that never occurs is the point, or the one that the user
 * named.
 */
function usesSigns(
  texts: readonly string[],
  { decimal, grouping, unit }: NumberFormat,
  { isNamed }: { isNamed: boolean },
): boolean {
  const has = (sign: string): boolean =>
    texts.some((text) => withoutUnit(text, unit)?.replaceAll(blanks, ' ').replaceAll(apostrophes, "'").includes(sign));
  return (grouping === '' || has(grouping)) && (isNamed || decimal === '.' || grouping === '.' || has(','));
}

/** The format in which most of the texts are numbers; undefined where fewer than half are. */
export function mostlyNumbers(texts: readonly string[], decimal: '.' | ',' | null): NumberFormat | null | undefined {
  const withDigits = texts.filter((text) => /\d/.test(text));
  if (2 * withDigits.length < texts.length) return undefined;
  const withUnit = formatsFor(decimal, commonestUnit(withDigits));
  const clocks = texts.some((text) => text.includes(':')) ? [clockFormat] : [];
  const formats = [...(decimal === ',' ? [] : [null]), ...clocks, ...withUnit];
  return formats.find((format) => {
    const numbers = withDigits.filter((text) => parseNumber(text, format) !== null).length;
    return numbers > 0 && 2 * numbers >= texts.length;
  });
}

/** The decimal sign that the numbers show; null where they have none. */
export function decimalShownBy(texts: readonly string[], format: NumberFormat | null): '.' | ',' | null {
  if (isClock(format)) return null;
  const { decimal, grouping } = format ?? { decimal: '.', grouping: '' };
  if (grouping === '.' || grouping === ',') return decimal;
  return texts.some((text) => text.includes(decimal)) ? decimal : null;
}
