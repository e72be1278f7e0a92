import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lineStyle, rankStyle } from '../../../src-renderer/charts/scene/line-style.ts';
import { plainView, rankLine } from './lines.ts';

const tokens = readFileSync(join(import.meta.dirname, '../../../src-renderer/styles/tokens.css'), 'utf8');

/** The colours of a token in the light and the dark theme, as red, green and blue from 0 to 255. */
function colors(token: string): number[][] {
  const found = new RegExp(`--${token}: light-dark\\(#(\\w{6}), #(\\w{6})\\)`).exec(tokens);
  if (found === null) throw new Error(`tokens.css has no colours ${token}.`);
  return found.slice(1).map((hex) => [0, 2, 4].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)));
}

/** Relative luminance (WCAG 2.2). */
function luminance(color: readonly number[]): number {
  const [red, green, blue] = color
    .map((part) => part / 255)
    .map((part) => (part <= 0.040_45 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Contrast ratios of two tokens in both themes (WCAG 2.2). */
function contrasts(token: string, behind: string): number[] {
  return colors(token).map((color, theme) => {
    const [light, dark] = [luminance(color), luminance(colors(behind)[theme])].toSorted((a, b) => b - a);
    return (light + 0.05) / (dark + 0.05);
  });
}

it('contrast is measured as WCAG does: black on white is 21, and #777777 on white 4.48', () => {
  expect((luminance([255, 255, 255]) + 0.05) / (luminance([0, 0, 0]) + 0.05)).toBeCloseTo(21, 10);
  expect((luminance([255, 255, 255]) + 0.05) / (luminance([119, 119, 119]) + 0.05)).toBeCloseTo(4.48, 2);
});

describe('lines on the surface, in both themes', () => {
  it.each([0, 1, 2, 3, 4, 5, 6, 7])('of rank %i have a contrast of at least 3', (rank) => {
    expect(rankStyle(rank).color).toBe(`rank-${rank}`);
    for (const contrast of contrasts(`rank-${rank}`, 'surface')) expect(contrast).toBeGreaterThanOrEqual(3);
  });

  it('of members are 1.25 pixels wide and opaque', () => {
    expect(lineStyle(rankLine(0, []), 0, plainView())).toMatchObject({ width: 1.25, opacity: 1 });
  });

  it.each(['text', 'text-muted'])('and names in %s have one of at least 4.5', (token) => {
    for (const contrast of contrasts(token, 'surface')) expect(contrast).toBeGreaterThanOrEqual(4.5);
  });
});
