import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { initWasm, Resvg } from '@resvg/resvg-wasm';
import { MadeOnce } from '../../core/text/made-once.ts';
import { join } from 'node:path';
import { writeFileAsOnlyWriter } from '../../core/node/atomic-file.ts';
import type { Figure } from './figure.ts';
import { renderSvg } from './render-svg.ts';

interface Renderer {
  fontBuffers: Uint8Array[];
}

const renderer = new MadeOnce<Renderer>();

/**
 * Renders SVG text to a PNG with `scale` pixels per px of the SVG. It uses fonts from a package, so that a figure looks
 * the same on every machine.
 *
 * @param svg - a stand-alone SVG document
 * @param options - `scale`: pixels per px
 */
export async function renderPng(svg: string, { scale }: { scale: number }): Promise<Uint8Array> {
  // Compiles resvg at the first use: it takes tens of milliseconds, and is allowed once per process.
  const { fontBuffers } = await renderer.get(loadRenderer);
  const resvg = new Resvg(svg, {
    fitTo: { mode: 'zoom', value: scale },
    font: { fontBuffers, defaultFontFamily: 'DejaVu Sans', sansSerifFamily: 'DejaVu Sans' },
  });
  const image = resvg.render();
  const png = image.asPng();
  // Not in a `finally`: after a failed render both are locked, and freeing them would throw another error.
  image.free();
  resvg.free();
  return png;
}

async function loadRenderer(): Promise<Renderer> {
  const [wasm, ...fontBuffers] = await Promise.all([
    readFile(fileURLToPath(import.meta.resolve('@resvg/resvg-wasm/index_bg.wasm'))),
    readFile(fileURLToPath(import.meta.resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf'))),
    readFile(fileURLToPath(import.meta.resolve('dejavu-fonts-ttf/ttf/DejaVuSans-Bold.ttf'))),
  ]);
  await initWasm(wasm);
  return { fontBuffers };
}

/** Pixels per px: sharp on dense screens and in print. */
const PNG_SCALE = 2;

/** Writes `<folder>/<name>.svg` and `.png` (twice the size in px). @throws Error that names path and remedy. */
export async function saveFigure(folder: string, name: string, figure: Figure): Promise<void> {
  const svg = renderSvg(figure);
  await writeFileAsOnlyWriter(join(folder, `${name}.svg`), svg);
  await writeFileAsOnlyWriter(join(folder, `${name}.png`), await renderPng(svg, { scale: PNG_SCALE }));
}
