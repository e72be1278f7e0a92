import { describe, expect, it } from 'vitest';
import { bars, type Figure, figure, line, type Panel, renderSvg } from '../../../workers/plots/index.ts';

function single(panel: Panel, size: Partial<Figure> = {}): Figure {
  return figure({ width: 400, height: 300, rows: 1, columns: 1, ...size, panels: [panel] });
}

const diagonal: Panel = { xRange: [0, 10], yRange: [0, 1], marks: [line({ x: [0, 10], y: [0, 1] })] };

function textsOf(svg: string): string[] {
  return [...svg.matchAll(/<tspan[^>]*>([^<]*)<\/tspan>/g)].map((match) => match[1] ?? '');
}

/** Clip boxes of marks: left, top, width, height. */
function plotAreas(svg: string): number[][] {
  const pattern = /translate\((\S+) (\S+)\)">\n(?:<path[^>]*>\n)?<svg width="(\S+)" height="(\S+)" overflow="hidden">/g;
  return [...svg.matchAll(pattern)].map((match) => match.slice(1).map(Number));
}

describe('renderSvg', () => {
  it('leaves exactly the room that labels need, and maps the ranges onto the rest', () => {
    const svg = renderSvg(single(diagonal));
    // Left: 12 padding + 6 gap + 15.9 for "0.0"; right: 12 + 12; top: 12 + 12; bottom: 12 + 6 gap + 12.5 for tick
    // labels.
    expect(plotAreas(svg)).toEqual([[33.9, 24, 342.1, 245.5]]);
    expect(svg).toContain('<path d="M0 245.5L342.1 0"');
    // 342.1 px hold 6 ticks 55 px apart, so steps of 2; 245.5 px hold 5 ticks 42 px apart, so steps of 0.2.
    expect(textsOf(svg)).toEqual(['0', '2', '4', '6', '8', '10', '0.0', '0.2', '0.4', '0.6', '0.8', '1.0']);
    // x = 2 is at a fifth of the width, y = 0.2 at four fifths of the height.
    expect(svg).toContain('<tspan x="68.42" y="261.5">2</tspan>');
    expect(svg).toContain('M0 196.4H342.1');
  });

  it('makes room for titles and axis labels', () => {
    const svg = renderSvg(single({ ...diagonal, title: 'T', xLabel: 'X', yLabel: 'Y' }, { title: 'F' }));
    // 28 for the figure's title, 22 instead of 12 for the panel's, 20 for each label.
    expect(plotAreas(svg)).toEqual([[53.9, 62, 322.1, 187.5]]);
    expect(textsOf(svg)).toEqual(expect.arrayContaining(['F', 'T', 'X', 'Y']));
  });

  it('aligns plot areas across rows and columns', () => {
    const wide: Panel = { ...diagonal, yRange: [0, 40_000], xLabel: 'X' };
    const panels = [diagonal, wide, wide, diagonal];
    const areas = plotAreas(renderSvg(figure({ width: 600, height: 500, rows: 2, columns: 2, panels })));
    const [topLeft, topRight, bottomLeft, bottomRight] = areas;
    expect(topLeft?.[0]).toBe(bottomLeft?.[0]);
    expect(topRight?.[2]).toBe(bottomRight?.[2]);
    expect(topLeft?.[1]).toBe(topRight?.[1]);
    expect(bottomLeft?.[3]).toBe(bottomRight?.[3]);
  });

  it('replaces ticks by names of bars, wrapped, and shrinks them to fit', () => {
    const labels = ['Avg member\n(best)', 'Ensemble'];
    const svg = renderSvg(single({ marks: [bars({ labels, values: [1, 2] })] }));
    expect(textsOf(svg).slice(0, 3)).toEqual(['Avg member', '(best)', 'Ensemble']);
    expect(svg).toContain('<text font-size="10" text-anchor="middle"><tspan');
    const narrow = renderSvg(single({ marks: [bars({ labels, values: [1, 2] })] }, { width: 180 }));
    // 180 - 12 - 12 - 12 - 21.9 = 122.1 px. 90 % of it is for two names of at most 6.25 em: 8.5 px in steps of a half.
    expect(narrow).toContain('<text font-size="8.5" text-anchor="middle"><tspan');
  });

  it('starts bars at the axis, and makes room below for negative values', () => {
    const positive = textsOf(renderSvg(single({ marks: [bars({ labels: ['a', 'b'], values: [1, 2] })] })));
    expect(positive).toEqual(['a', 'b', '0.0', '0.5', '1.0', '1.5', '2.0']);
    // From 0 to 2 with an eighth of room on top: 2.24.
    const svg = renderSvg(single({ marks: [bars({ labels: ['a'], values: [-1], colors: ['red'] })] }));
    const [, , , height = NaN] = plotAreas(svg)[0] ?? [];
    const [, y, length] = /y="(\S+)" width="\S+" height="(\S+)" fill="red"/.exec(svg) ?? [];
    expect(Number(y)).toBe(0);
    expect(Number(length)).toBeCloseTo(height / 1.12, 1);
  });

  it('puts no ticks between whole epochs', () => {
    const svg = renderSvg(single({ marks: [line({ x: [1, 2, 3], y: [0, 0, 0] })] }));
    expect(textsOf(svg).slice(0, 4)).toEqual(['1', '2', '3', '−1.0']);
  });

  it('lists labelled marks in the legend, in the emptiest corner by default', () => {
    const x = Array.from({ length: 50 }, (_, i) => i);
    const rising = line({ x, y: x, label: 'rise & shine' });
    const legendLeft = (panel: Panel): number =>
      Number(/<g transform="translate\((\S+) \S+\)"><rect/.exec(renderSvg(single(panel)))?.[1]);
    expect(textsOf(renderSvg(single({ marks: [rising] })))).toContain('rise &amp; shine');
    expect(legendLeft({ marks: [rising], legend: 'top-left' })).toBe(6);
    // A rising line ends in the upper right corner, and the lower right one is free.
    expect(renderSvg(single({ marks: [rising] }))).toBe(renderSvg(single({ marks: [rising], legend: 'bottom-right' })));
    expect(renderSvg(single({ marks: [rising], legend: 'none' }))).not.toContain('rise');
  });

  it('escapes every text', () => {
    const hostile = '</text><script>"&';
    const marks = [bars({ labels: [hostile], values: [1], valueLabels: [hostile], colors: ['"><b'], label: hostile })];
    const svg = renderSvg(
      single({ title: hostile, xLabel: hostile, yLabel: hostile, marks }, { title: hostile, width: 900 }),
    );
    expect(svg).not.toContain('<script');
    expect(svg).not.toContain('<b');
    expect(svg.match(/&lt;\/text&gt;&lt;script&gt;&quot;&amp;/g)).toHaveLength(8);
  });

  it('draws axes for no data, constant data, only NaN, and zeros on a logarithmic axis', () => {
    for (const y of [[], [3, 3], [NaN, NaN], [0, 0], [1e308, -1e308]]) {
      const x = y.map((_, i) => i);
      for (const yScale of ['linear', 'log'] as const) {
        const svg = renderSvg(single({ yScale, marks: [line({ x, y, label: 'y' })] }));
        expect(svg).not.toMatch(/="[^"]*(NaN|Infinity)/);
        expect(plotAreas(svg)).toHaveLength(1);
      }
    }
  });

  it('gives the same text for the same figure', () => {
    expect(renderSvg(single(diagonal))).toBe(renderSvg(single(structuredClone(diagonal))));
  });
});

describe('invalid figures', () => {
  it('are refused with value, rule and remedy', () => {
    const base = { width: 400, height: 300, rows: 1, columns: 1, panels: [diagonal] };
    expect(() => figure({ ...base, width: NaN })).toThrow("A figure's width must be a number above 0, not NaN.");
    expect(() => figure({ ...base, rows: 1.5 })).toThrow("A figure's rows must be a whole number above 0, not 1.5.");
    expect(() => figure({ ...base, panels: [diagonal, diagonal] })).toThrow('2 panels do not fit 1 rows of 1: add');
    expect(() => single({ ...diagonal, xRange: [2, 1] })).toThrow('xRange [2, 1] must be two finite numbers');
    expect(() => single({ ...diagonal, yRange: [0, 1], yScale: 'log' })).toThrow('both above 0 on a logarithmic axis');
    expect(() => renderSvg(single({ ...diagonal, title: 'Loss' }, { width: 60 }))).toThrow(
      'Panel "Loss" has 2 x 235 px left to draw in, and needs 24 x 24: make the figure larger',
    );
  });
});
