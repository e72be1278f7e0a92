import { formatDuration, formatShort } from '../number-format.ts';
import type { Scale } from './scale.ts';
import type { ChartRange } from '../types.ts';

export interface Tick {
  value: number;
  label: string;
}

/** Fewer would not tell how far apart values are. */
const fewest = 3;

const secondSteps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400];

/** Round values across a scale, some `count` of them, and no fewer than three. */
export function ticks(scale: Scale, count: number): Tick[] {
  const values = scale.isLog ? logValues(scale, count) : niceValues(scale, count);
  return values.map((value) => ({ value, label: formatShort(value) }));
}

/** Round times across a scale in seconds. */
export function timeTicks(scale: Scale, count: number): Tick[] {
  if (scale.isLog) return logValues(scale, count).map((value) => ({ value, label: formatDuration(value) }));
  const rough = (scale.to - scale.from) / count;
  const step = secondSteps.find((step) => step >= rough) ?? 86_400 * niceStep(rough / 86_400);
  return evenValues(scale, step).map((value) => ({ value, label: formatDuration(value) }));
}

/** The smallest of 1, 2, 5 times a power of ten that is at least `rough`. */
export function niceStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 5, 10].find((factor) => factor * power >= rough * (1 - 1e-9)) ?? 10;
  return factor * power;
}

function niceValues(scale: ChartRange, count: number): number[] {
  const step = niceStep((scale.to - scale.from) / count);
  // 1, 2 and 5 times a power of ten have each other as neighbours; the second neighbour fits three times at least.
  const candidates = [step, 0.4 * step, 0.16 * step].map((rough) => evenValues(scale, niceStep(rough)));
  return candidates.find(({ length }) => length >= fewest) ?? candidates[0];
}

function evenValues({ from, to }: ChartRange, step: number): number[] {
  const [first, last] = [Math.ceil(from / step - 1e-9), Math.floor(to / step + 1e-9)];
  // Multiples of a fraction collect errors: 3 * 0.1 is 0.30000000000000004, which no label should show.
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) =>
    Number(((first + index) * step).toPrecision(12)),
  );
}

/** Powers of ten; with 2 and 5 times them where there is room or too few, and even steps within less than a decade. */
function logValues(scale: Scale, count: number): number[] {
  const decades = Math.log10(scale.to / scale.from);
  if (decades < 1) return niceValues(scale, count);
  if (3 * decades <= count) return powersOfTen(scale, 1, [1, 2, 5]);
  for (let skip = Math.ceil(decades / count); skip >= 1; skip--) {
    const values = powersOfTen(scale, skip, [1]);
    if (values.length >= fewest) return values;
  }
  return powersOfTen(scale, 1, [1, 2, 5]);
}

/** Each `skip`th power of ten times each factor. */
function powersOfTen({ from, to }: ChartRange, skip: number, factors: readonly number[]): number[] {
  const values: number[] = [];
  for (let power = Math.floor(Math.log10(from) / skip) * skip; 10 ** power <= to; power += skip) {
    values.push(...factors.map((factor) => Number((factor * 10 ** power).toPrecision(12))));
  }
  return values.filter((value) => value >= from * (1 - 1e-9) && value <= to * (1 + 1e-9));
}
