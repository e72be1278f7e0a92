import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';

const pngSignature = '89504e470d0a1a0a';

/** Checks a figure in both formats. In SVG, each panel clips its content by a nested `<svg>`. */
export function expectFigure(folder: string, name: string, panels: number): void {
  const png = readFileSync(join(folder, `${name}.png`));
  expect(png.subarray(0, 8).toString('hex')).toBe(pngSignature);
  const svg = readFileSync(join(folder, `${name}.svg`), 'utf8');
  expect(svg).toMatch(/^<svg [^]*<\/svg>\s*$/);
  expect(svg.match(/<svg /g)).toHaveLength(1 + panels);
}
