import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { LineStyle } from '../../../src-renderer/charts/types.ts';
import { PixelColumns } from '../../../src-renderer/charts/scene/pixel-columns.ts';

type Point = [x: number, y: number];
type Stroke = [column: number, top: number, bottom: number];

const area = { left: 0, top: 0, right: 8, bottom: 100 };
const thin: Pick<LineStyle, 'width' | 'dash'> = { width: 1, dash: [] };

/** Upright strokes of a line through points, in device pixels. */
function strokesOf(points: readonly Point[], style = thin, ratio = 1, plot = area): Stroke[] {
  const columns = new PixelColumns(plot, ratio, style);
  points.forEach(([x, y], index) => (index === 0 ? columns.moveTo(x, y) : columns.lineTo(x, y)));
  const strokes: Stroke[] = [];
  columns.trace({
    moveTo: (x, y) => strokes.push([x - 0.5, y, NaN]),
    lineTo: (x, y) => {
      expect(x - 0.5).toBe(strokes[strokes.length - 1][0]);
      strokes[strokes.length - 1][2] = y;
    },
  });
  return strokes;
}

it('draws a level line with its width', () => {
  const level: Point[] = [
    [2, 50],
    [4.5, 50],
  ];
  const [one, three] = [strokesOf(level), strokesOf(level, { width: 3, dash: [] })];
  // At 2 it touches the columns on both sides.
  expect(one).toEqual([1, 2, 3, 4].map((column) => [column, 49.5, 50.5]));
  // Three pixels extend one and a half to each side: from 0.5 to 6.
  expect(three).toEqual([0, 1, 2, 3, 4, 5].map((column) => [column, 48.5, 51.5]));
});

it('draws a slanted line with its width perpendicular to it', () => {
  // It falls by 3 per column. sqrt(1 + 9) is 3.1623, of which 0.0811 overlaps at each end.
  const strokes = strokesOf([
    [0.25, 10],
    [4.25, 22],
  ]);
  expect(strokes[2]).toEqual([2, expect.closeTo(15.25 - 0.0811, 4), expect.closeTo(18.25 + 0.0811, 4)]);
});

it('keeps the extent of a line within a column, and connects columns', () => {
  const strokes = strokesOf([
    [1.1, 40],
    [1.4, 10],
    [1.6, 90],
    [2.6, 70],
  ]);
  expect(strokes.map(([column]) => column)).toEqual([1, 2]);
  // It enters column 2 at 90 - 20 * 0.4 = 82; sqrt(1 + 12^2) is 12.042.
  expect(strokes[0]).toEqual([1, expect.closeTo(10, 1), expect.closeTo(90, 1)]);
  expect(strokes[1]).toEqual([2, expect.closeTo(70 - 0.02, 2), expect.closeTo(82 + 0.02, 2)]);
});

it('draws an upright line where x does not change', () => {
  expect(
    strokesOf([
      [3.5, 20],
      [3.5, 60],
    ]),
  ).toEqual([[3, expect.closeTo(20, 1), expect.closeTo(60, 1)]]);
});

it('omits columns in the gaps of dashes, counted from the left edge', () => {
  const strokes = strokesOf(
    [
      [0.5, 50],
      [7.5, 50],
    ],
    { width: 1, dash: [2, 1] },
  );
  expect(strokes.map(([column]) => column)).toEqual([0, 1, 3, 4, 6, 7]);
});

it('keeps every spike in a gap, and draws the part that reaches beyond the dashes', () => {
  const points: Point[] = [
    [0.5, 50],
    [2.3, 50],
    [2.5, 10],
    [2.7, 50],
    [5.4, 50],
    [5.5, 51],
    [5.6, 50],
    [7.5, 50],
  ];
  // Columns 2 and 5 are gaps. A pixel up or down is no spike.
  const strokes = strokesOf(points, { width: 1, dash: [2, 1] });
  expect(strokes.map(([column]) => column)).toEqual([0, 1, 2, 3, 4, 6, 7]);
  expect(strokes[2]).toEqual([2, expect.closeTo(10, 1), expect.closeTo(50, 1)]);
});

it('uses device pixels', () => {
  const style = { width: 1, dash: [1, 1] };
  // Two device pixels per canvas pixel: from 2.6 to 7.4, two wide, with dashes of two columns.
  const strokes = strokesOf(
    [
      [1.3, 10],
      [3.7, 10],
    ],
    style,
    2,
  );
  expect(strokes).toEqual([4, 5].map((column) => [column, 19, 21]));
});

it('clips to the canvas, and breaks where the pen is lifted', () => {
  const columns = strokesOf([
    [-1000, 50],
    [1000, 50],
  ]);
  expect(columns.map(([column]) => column)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  const lifted = new PixelColumns(area, 1, thin);
  const seen: number[] = [];
  lifted.moveTo(0.5, 1);
  lifted.lineTo(1.5, 1);
  lifted.moveTo(4.5, 1);
  lifted.lineTo(5.5, 1);
  lifted.trace({ moveTo: (x) => seen.push(x - 0.5), lineTo: () => {} });
  expect(seen).toEqual([0, 1, 4, 5]);
});

it("never loses a spike: the stroke of each point's column contains the point", () => {
  const x = fc.double({ min: 0, max: 8, maxExcluded: true, noNaN: true });
  const y = fc.double({ min: -1e4, max: 1e4, noNaN: true });
  const width = fc.double({ min: 0.5, max: 4, noNaN: true });
  fc.assert(
    fc.property(
      fc.array(fc.tuple(x, y), { minLength: 2, maxLength: 100 }),
      width,
      fc.constantFrom(1, 1.25, 2),
      (unsorted, width, ratio) => {
        const points = unsorted.toSorted((a, b) => a[0] - b[0]);
        const strokes = new Map(
          strokesOf(points, { width, dash: [] }, ratio).map(([column, ...span]) => [column, span]),
        );
        for (const [x, y] of points) {
          const [top, bottom] = strokes.get(Math.floor(x * ratio)) ?? [NaN, NaN];
          // Half a unit in the last place of a float32 of 20,000.
          expect(top).toBeLessThanOrEqual(y * ratio + 0.001);
          expect(bottom).toBeGreaterThanOrEqual(y * ratio - 0.001);
        }
      },
    ),
  );
});
