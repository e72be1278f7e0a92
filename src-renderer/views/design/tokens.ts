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

/** Red, green and blue from 0 to 255. */
export type Rgb = readonly [red: number, green: number, blue: number];

/**
 * The channels of a colour as `getComputedStyle` writes it: `rgb(20, 24, 29)`.
 * @throws Error for another notation, or one with transparency
 */
export function parseRgb(text: string): Rgb {
  const match = /^rgb\((\d+), (\d+), (\d+)\)$/.exec(text);
  if (match === null) throw new Error(`"${text}" is not an opaque colour like "rgb(20, 24, 29)".`);
  return [Number(match[1]), Number(match[2]), Number(match[3])];
}

/**
 * The relative luminance of a colour in sRGB, from 0 to 1.
 *
 * Source: WCAG 2.2, "relative luminance".
 */
export function luminance(color: Rgb): number {
  const [red, green, blue] = color.map((channel) => {
    const share = channel / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/**
 * How much two colours differ in brightness, from 1 to 21: (lighter + 0.05) / (darker + 0.05).
 *
 * Source: WCAG 2.2, "contrast ratio".
 */
export function contrast(one: Rgb, other: Rgb): number {
  const [darker, lighter] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}
