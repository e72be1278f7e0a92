import { join } from 'node:path';
import { writeFileAsOnlyWriter } from '../../core/node/atomic-file.ts';
import type { Figure } from './figure.ts';
import { renderPng } from './render-png.ts';
import { renderSvg } from './render-svg.ts';

/** Pixels per px: sharp on dense screens and in print. */
const PNG_SCALE = 2;

/** Writes `<folder>/<name>.svg` and `.png` (twice the size in px). @throws Error that names path and remedy. */
export async function saveFigure(folder: string, name: string, figure: Figure): Promise<void> {
  const svg = renderSvg(figure);
  await writeFileAsOnlyWriter(join(folder, `${name}.svg`), svg);
  await writeFileAsOnlyWriter(join(folder, `${name}.png`), await renderPng(svg, { scale: PNG_SCALE }));
}
