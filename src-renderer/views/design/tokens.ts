import { contrast, type Rgb } from './contrast.ts';

/** A pair of colours that stand on each other somewhere, with the contrast that WCAG 2.2 AA asks for. */
export interface ColorPair {
  color: string;
  on: string;
  /** 4.5 for text, 3 for lines and for the edges of controls. */
  least: 4.5 | 3;
}

const text = ['text', 'text-muted', 'accent', 'good', 'warn', 'bad'];
const backgrounds = ['canvas', 'surface', 'raised'];
const ranks = Array.from({ length: 8 }, (_, rank) => `rank-${rank}`);

export const pairs: readonly ColorPair[] = [
  ...text.flatMap((color) => backgrounds.map((on): ColorPair => ({ color, on, least: 4.5 }))),
  { color: 'on-accent', on: 'accent', least: 4.5 },
  ...['accent', 'good', 'warn', 'bad'].map((color): ColorPair => ({ color, on: `${color}-soft`, least: 4.5 })),
  { color: 'border-strong', on: 'surface', least: 3 },
  ...ranks.map((color): ColorPair => ({ color, on: 'surface', least: 3 })),
];

/** The tokens that the pairs name, each once. */
export const pairedTokens = [...new Set(pairs.flatMap(({ color, on }) => [color, on]))];

/** All colours, each of which the page shows as an area. */
export const colorTokens = [...pairedTokens, 'border'];

export interface MeasuredPair extends ColorPair {
  ratio: number;
  suffices: boolean;
}

/** @param colors the colour of each token in the current theme */
export function measurePairs(colors: ReadonlyMap<string, Rgb>): MeasuredPair[] {
  return pairs.map((pair) => {
    const [color, on] = [colors.get(pair.color), colors.get(pair.on)];
    if (color === undefined || on === undefined) throw new Error(`${pair.color} or ${pair.on} was not measured.`);
    const ratio = contrast(color, on);
    return { ...pair, ratio, suffices: ratio >= pair.least };
  });
}
