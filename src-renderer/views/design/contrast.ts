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
