import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAxis, type ScaleKind } from '../../../workers/plots/axis.ts';
import {
  band,
  bars,
  horizontalLine,
  line,
  type Mark,
  points,
  text,
  verticalLine,
} from '../../../workers/plots/index.ts';
import { type Place, renderMark } from '../../../workers/plots/render-marks.ts';

/** 100 x 100 px for x and y in [0, 10] (or [1, 100], logarithmic): 10 px per unit, y upward. */
function place(yScale: ScaleKind = 'linear', yRange: [number, number] = [0, 10]): Place {
  const x = createAxis('linear', [0, 10], 5);
  const y = createAxis(yScale, yRange, 5);
  return {
    width: 100,
    height: 100,
    x: (value) => 100 * x.fraction(value),
    y: (value) => 100 * (1 - y.fraction(value)),
  };
}

function pathOf(mark: Mark, where = place()): string | undefined {
  return / d="([^"]*)"/.exec(renderMark(mark, where))?.[1];
}

function rectanglesOf(mark: Mark, where = place()): (string | undefined)[][] {
  const pattern = /<rect x="([^"]*)" y="([^"]*)" width="([^"]*)" height="([^"]*)" fill="([^"]*)"/g;
  return [...renderMark(mark, where).matchAll(pattern)].map((match) => match.slice(1));
}

describe('lines', () => {
  it('go through their points, y upward', () => {
    expect(pathOf(line({ x: [0, 5, 10], y: new Float32Array([0, 2.5, 10]) }))).toBe('M0 100L50 75L100 0');
  });

  it('have gaps at NaN and infinities, and a dot between two gaps', () => {
    const y = [NaN, 1, 2, NaN, 4, Infinity, 6, 7, 8];
    expect(pathOf(line({ x: [0, 1, 2, 3, 4, 5, 6, 7, 8], y }))).toBe('M10 90L20 80M40 60h0M60 40L70 30L80 20');
    expect(renderMark(line({ x: [1, 2], y: [NaN, NaN] }), place())).toBe('');
    expect(renderMark(line({ x: [], y: [] }), place())).toBe('');
  });

  it('have gaps at zero and below on a logarithmic axis', () => {
    const mark = line({ x: [0, 1, 2, 3, 4], y: [1, 10, 0, -5, 100] });
    expect(pathOf(mark, place('log', [1, 100]))).toBe('M0 100L10 50M40 0h0');
  });

  it('keep their style', () => {
    expect(
      renderMark(line({ x: [0, 1], y: [0, 1], color: '#abc', width: 2.5, opacity: 0.5, dash: [4, 3] }), place()),
    ).toBe(
      '<path d="M0 100L10 90" fill="none" stroke="#abc" stroke-width="2.5" ' +
        'stroke-opacity="0.5" stroke-dasharray="4 3" ' +
        'stroke-linejoin="round" stroke-linecap="round"/>',
    );
  });
});

it('bands are closed along the lower curve, and split where either curve has a gap', () => {
  const mark = band({ x: [0, 1, 2, 3, 4], lower: [1, 1, 1, NaN, 1], upper: [2, 3, NaN, 3, 3] });
  expect(pathOf(mark)).toBe('M0 80L10 70L10 90L0 90ZM40 70L40 90Z');
});

it('markers: a circle is centred on its point, and a triangle-down points at it', () => {
  expect(pathOf(points({ x: [5, NaN], y: [5, 1], size: 4 }))).toBe('M48 50a2 2 0 1 0 4 0a2 2 0 1 0 -4 0Z');
  expect(pathOf(points({ x: [5], y: [5], size: 10, shape: 'triangle-down' }))).toBe('M50 50L44.5 40L55.5 40Z');
});

it('rules cross the whole panel, and are omitted outside of the axis', () => {
  expect(pathOf(verticalLine({ x: 3 }))).toBe('M30 0V100');
  expect(pathOf(horizontalLine({ y: 3 }))).toBe('M0 70H100');
  expect(renderMark(verticalLine({ x: NaN }), place())).toBe('');
  expect(renderMark(horizontalLine({ y: 0 }), place('log', [1, 100]))).toBe('');
});

describe('bars', () => {
  it('start at zero, upward or downward, with their value at the end', () => {
    const mark = bars({
      positions: [2, 5],
      values: [3, -4],
      barWidth: 2,
      colors: ['red', 'blue'],
      valueLabels: ['3', '−4'],
    });
    const where = place('linear', [-10, 10]);
    expect(rectanglesOf(mark, where)).toEqual([
      ['10', '35', '20', '15', 'red'],
      ['40', '50', '20', '20', 'blue'],
    ]);
    // 4 px above the bar's end at 35. Below the end at 70 by the height of the text and half that gap.
    const svg = renderMark(mark, where);
    expect(svg).toContain('<tspan x="20" y="31">3</tspan>');
    expect(svg).toContain('<tspan x="50" y="82">−4</tspan>');
  });

  it('are missing for NaN, but keep their label', () => {
    const mark = bars({ values: [1, NaN], valueLabels: ['1', 'NaN'] });
    expect(rectanglesOf(mark)).toHaveLength(1);
    expect(renderMark(mark, place())).toContain('<tspan x="10" y="96">NaN</tspan>');
  });

  it('start at the lower edge if zero is out of range or the axis is logarithmic', () => {
    const mark = bars({ positions: [5], values: [10], barWidth: 1, colors: ['red'] });
    expect(rectanglesOf(mark, place('log', [1, 100]))).toEqual([['45', '50', '10', '50', 'red']]);
    expect(rectanglesOf(mark, place('linear', [5, 15]))).toEqual([['45', '50', '10', '50', 'red']]);
  });
});

it('text starts at its point, with several lines above it', () => {
  expect(renderMark(text({ x: 1, y: 1, text: 'a & b\nc', size: 8 }), place())).toBe(
    '<text font-size="8" fill="#1a1a1a"><tspan x="10" y="80">a &amp; b</tspan><tspan x="10" y="90">c</tspan></text>',
  );
});

it('columns of different lengths are refused', () => {
  expect(() => line({ x: [1, 2], y: [1] })).toThrow('All columns of line must be of one length, but are: x 2, y 1.');
  expect(() => bars({ values: [1, 2], labels: ['a'] })).toThrow('values 2, positions 2, labels 1');
});

it('whatever the values, no coordinate is NaN or infinite', () => {
  const value = fc.oneof(fc.double(), fc.constantFrom(NaN, Infinity, -Infinity, 0, -1, 1e308, 5e-324));
  const column = fc.array(value, { minLength: 6, maxLength: 6 });
  fc.assert(
    fc.property(column, column, column, fc.constantFrom<ScaleKind>('linear', 'log'), (x, y, z, scale) => {
      const marks = [
        line({ x, y }),
        band({ x, lower: y, upper: z }),
        points({ x, y, shape: 'triangle-down' }),
        bars({ positions: x, values: y }),
        verticalLine({ x: x[0] }),
        text({ x: x[0], y: y[0], text: '' }),
      ];
      for (const mark of marks) expect(renderMark(mark, place(scale, [1, 100]))).not.toMatch(/NaN|Infinity|e[+-]?\d/);
    }),
  );
});
