import { formatValue } from '../../../core/text/numbers.ts';
import type { LineStyle, ReadoutValue } from '../types.ts';
import { readoutSentence } from './readout.ts';

/** A line's value in the box beside a plot. */
export interface ReadoutRow {
  id: string;
  label: string;
  value: number;
  /** The value minus that of the ensemble; null for the ensemble, and where there is none. */
  distance: number | null;
  style: LineStyle;
  /** Whether the pointer or the keys single out its line. */
  isLit: boolean;
}

export interface Readout {
  rows: ReadoutRow[];
  /** How many lines are between those of the rows. */
  leftOut: number;
}

/** Of more lines beside the ensemble, the box has the largest, the smallest and the one that is singled out. */
const mostRows = 8;

/**
 * The box's rows from the largest value to the smallest, as the lines lie on the plot; last those that are not finite.
 */
export function readoutRows(values: readonly ReadoutValue[], litRank: number | null): Readout {
  const ensemble = values.find(({ role }) => role === 'ensemble')?.value ?? NaN;
  const sorted = values.toSorted((a, b) => sortKey(b.value) - sortKey(a.value));
  const members = sorted.filter(isMember);
  const isFew = members.length <= mostRows;
  const finite = members.filter(({ value }) => Number.isFinite(value));
  const ends = new Set([finite.at(0), finite.at(-1)]);
  const isLit = ({ rank }: ReadoutValue): boolean => rank !== null && rank === litRank;
  const shown = sorted.filter((value) => isFew || !isMember(value) || isLit(value) || ends.has(value));
  const rows = shown.map((value): ReadoutRow => {
    const distance = value.value - ensemble;
    const { id, label, style } = value;
    const hasDistance = value.role !== 'ensemble' && Number.isFinite(distance);
    return { id, label, value: value.value, distance: hasDistance ? distance : null, style, isLit: isLit(value) };
  });
  return { rows, leftOut: sorted.length - rows.length };
}

function isMember({ role }: ReadoutValue): boolean {
  return role === 'rank' || role === 'other';
}

function sortKey(value: number): number {
  return Number.isNaN(value) ? -Number.MAX_VALUE : Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, value));
}

/** `+0.0123`, `−0.0004`: three digits, with a sign. */
export function formatDistance(distance: number): string {
  if (distance === 0) return '0';
  const size = Number(Math.abs(distance).toPrecision(3));
  const text =
    size >= 1e-4 && size < 1e6 ? size.toLocaleString('en-US', { maximumFractionDigits: 7 }) : formatValue(size);
  return `${distance > 0 ? '+' : '−'}${text}`;
}

/**
 * The rank whose line is the next one above or below the lit one at the cursor; without a lit one, the highest or the
 * lowest.
 */
export function nextRank(
  values: readonly ReadoutValue[],
  litRank: number | null,
  direction: 'up' | 'down',
): number | null {
  const ascending = values
    .filter(({ rank, value }) => rank !== null && Number.isFinite(value))
    .toSorted((a, b) => a.value - b.value);
  const ranks = direction === 'up' ? ascending : ascending.toReversed();
  const place = ranks.findIndex(({ rank }) => rank === litRank);
  return ranks.at(place === -1 ? -1 : Math.min(place + 1, ranks.length - 1))?.rank ?? null;
}

/**
 * What a screen reader says at the cursor: the ensemble, the range of the members, and the line that is singled out.
 */
export function spokenReadout(values: readonly ReadoutValue[], { rows }: Readout): string {
  const lit = rows.find(({ isLit }) => isLit);
  if (lit === undefined) return readoutSentence(values);
  const distance =
    lit.distance === null
      ? ''
      : `, ${formatDistance(Math.abs(lit.distance)).replace('+', '')} ${lit.distance < 0 ? 'below' : 'above'} ` +
        'the ensemble';
  return `${readoutSentence(values)}; ${lit.label} ${formatValue(lit.value)}${distance}`;
}
