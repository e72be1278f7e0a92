import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { figure, line, renderPng, renderSvg, saveFigure } from '../../../workers/plots/index.ts';

const PNG_SIGNATURE = '89504e470d0a1a0a';
const example = figure({
  width: 300,
  height: 200,
  rows: 1,
  columns: 1,
  panels: [{ title: 'A < B & "C"', marks: [line({ x: [0, 1, 2], y: [1, NaN, 3] })] }],
});

/** Width and height from the PNG's IHDR chunk. */
function sizeOf(png: Uint8Array): [width: number, height: number] {
  const view = new DataView(png.buffer, png.byteOffset);
  return [view.getUint32(16), view.getUint32(20)];
}

describe('PNG', () => {
  it('has the size of the SVG times the scale', async () => {
    const png = await renderPng(renderSvg(example), { scale: 2 });
    expect(Buffer.from(png.subarray(0, 8)).toString('hex')).toBe(PNG_SIGNATURE);
    expect(sizeOf(png)).toEqual([600, 400]);
    expect(sizeOf(await renderPng(renderSvg(example), { scale: 1 }))).toEqual([300, 200]);
  });

  it("renders regular and bold text with the package's fonts, identically each time", async () => {
    const svg = renderSvg(example);
    const png = await renderPng(svg, { scale: 1 });
    expect(await renderPng(svg, { scale: 1 })).toEqual(png);
    expect(await renderPng(svg.replaceAll(' font-weight="bold"', ''), { scale: 1 })).not.toEqual(png);
    const withoutText = svg.replaceAll(/<tspan.*?<\/tspan>/g, '');
    expect((await renderPng(withoutText, { scale: 1 })).byteLength).toBeLessThan(png.byteLength * 0.8);
  });

  it('clips marks to the plot area', async () => {
    const draw = (y: number[]): Promise<Uint8Array> => {
      const panels = [
        { xRange: [0, 1], yRange: [0, 1], marks: [line({ x: [-5, 5], y, color: 'red', width: 9 })] },
      ] as const;
      return renderPng(renderSvg(figure({ width: 300, height: 200, rows: 1, columns: 1, panels })), { scale: 1 });
    };
    // Both lines are outside: one just above the plot area, in the margin, and the other far away.
    expect(await draw([1.05, 1.05])).toEqual(await draw([99, 99]));
    expect(await draw([0.5, 0.5])).not.toEqual(await draw([99, 99]));
  });
});

it('saveFigure writes only SVG and PNG', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tutti-plots-'));
  try {
    await saveFigure(join(folder, 'plots'), 'curves', example);
    expect(await readdir(join(folder, 'plots'))).toEqual(['curves.png', 'curves.svg']);
    expect(await readFile(join(folder, 'plots', 'curves.svg'), 'utf8')).toBe(renderSvg(example));
    expect(sizeOf(await readFile(join(folder, 'plots', 'curves.png')))).toEqual([600, 400]);
  } finally {
    await rm(folder, { recursive: true });
  }
});
