import { describe, expect, it } from 'vitest';
import { csvField, seriesCsv, seriesTable, spellThinning } from '../../../src-renderer/charts/frame/table.ts';
import { hues, lineStyle, type Palette } from '../../../src-renderer/charts/scene/line-style.ts';
import { tracePath } from '../../../src-renderer/charts/scene/plot.ts';
import { formatPosition, readoutAt, readoutSentence, summarize } from '../../../src-renderer/charts/series/readout.ts';
import { backToFront, composeScene, type Scene, strokesOf } from '../../../src-renderer/charts/scene/scene.ts';
import { SeriesLines } from '../../../src-renderer/charts/series-lines.ts';
import { placeNotes, sceneSvg } from '../../../src-renderer/charts/scene/svg.ts';
import type { ChartSeries, ChartView } from '../../../src-renderer/charts/types.ts';
import { viewFromQuery, viewToQuery } from '../../../src-renderer/charts/series/chart-view.ts';
import { lineOf, plainView, rankLine } from './lines.ts';

const size = { width: 400, height: 200 };

function scene(series: readonly ChartSeries[], view: Partial<ChartView> = {}, lines = new SeriesLines()): Scene {
  const props = { title: 'NLL', runName: 'run', yLabel: 'NLL', series, view: plainView(view) };
  return composeScene(props, lines, size);
}

const two = [lineOf([4, 2, 1], { label: 'ensemble' }), rankLine(1, [5, 3, 2])];

const colourless = { text: '', 'text-muted': '', border: '', surface: '', accent: '', warn: '' };

describe('scenes', () => {
  it('fit the axes to the visible values, with 5 % of room', () => {
    const { x, y } = scene(two);
    expect([x.from, x.to]).toEqual([0, 2]);
    expect([y.from, y.to]).toEqual([expect.closeTo(0.8, 12), expect.closeTo(5.2, 12)]);
    const zoomed = scene(two, { zoom: { from: 1, to: 2 } });
    expect([zoomed.y.from, zoomed.y.to]).toEqual([expect.closeTo(0.9, 12), expect.closeTo(3.1, 12)]);
  });

  it('hide hidden ranks and keep the ensemble', () => {
    expect(scene(two, { hiddenRanks: new Set([1]) }).lines.map(({ series }) => series.label)).toEqual(['ensemble']);
  });

  it('start a logarithmic x axis at the first positive value', () => {
    expect(scene(two, { logX: true }).x).toMatchObject({ from: 1, to: 2 });
    expect(scene(two, { logX: true, zoom: { from: 0, to: 2 } }).x).toMatchObject({ from: 1, to: 2 });
  });

  it('reach the events before the first point and after the last, which a rank lost early leaves', () => {
    const props = { title: 'NLL', runName: 'run', yLabel: 'NLL', series: two, view: plainView() };
    const at = (step: number, label: string) => ({ x: { step, epoch: step, time: null }, label });
    const events = [at(-6, 'restarted'), at(9, 'stopping')];
    const shown = composeScene({ ...props, events }, new SeriesLines(), size);
    expect([shown.x.from, shown.x.to]).toEqual([-6, 9]);
    expect(summarize('NLL', 'step', shown)).toContain('Marked: restarted at step -6, stopping at step 9.');
    const logarithmic = composeScene({ ...props, view: plainView({ logX: true }), events }, new SeriesLines(), size);
    expect([logarithmic.x.from, logarithmic.x.to]).toEqual([1, 9]);
    expect(composeScene({ ...props, series: [], events }, new SeriesLines(), size).x).toMatchObject({ from: 0, to: 1 });
  });

  it('clip outliers to the 5th and 95th percentile', () => {
    const values = Array.from({ length: 101 }, (_, index) => (index === 50 ? 1e6 : index));
    const { y } = scene([lineOf(values)], { clipsOutliers: true });
    // Percentiles 5 and 96, and 5 % of room.
    expect([y.from, y.to]).toEqual([expect.closeTo(5 - 4.55, 9), expect.closeTo(96 + 4.55, 9)]);
  });

  it('interpolate those percentiles like NumPy, over finite values', () => {
    // numpy.percentile([1, 2, 3, 4], [5, 95]) is [1.15, 3.85]. The room is 5 % of the span of 2.7.
    const { y } = scene([lineOf([4, NaN, 1, 3, Infinity, 2])], { clipsOutliers: true });
    expect([y.from, y.to]).toEqual([expect.closeTo(1.15 - 0.135, 12), expect.closeTo(3.85 + 0.135, 12)]);
    expect(scene([lineOf([NaN])], { clipsOutliers: true }).y).toMatchObject({ from: 0, to: 1 });
  });

  it('show a constant as a constant, smoothed or not', () => {
    const constant = [lineOf(Array.from({ length: 50 }, () => 0.003))];
    for (const smoothing of [0, 0.6]) {
      const { y } = scene(constant, { smoothing });
      expect([y.from, y.to]).toEqual([expect.closeTo(0.00285, 9), expect.closeTo(0.00315, 9)]);
    }
  });

  it('count the visible values that clipping hides', () => {
    // 99 values of 0 to 98, then two spikes and a gap: of 101 finite values, those at places 5 and 95.
    const values = [...Array.from({ length: 99 }, (_, index) => index), 1e6, -1e6, NaN];
    const clipped = scene([lineOf(values)], { clipsOutliers: true });
    // 4.0 to 94.0 with 5 % of room is -0.5 to 98.5.
    expect(clipped.outside).toBe(2);
    expect(summarize('NLL', 'step', clipped)).toContain('2 points outside.');
    expect(scene([lineOf(values)]).outside).toBe(0);
    const zoomed = scene([lineOf(values)], { clipsOutliers: true, zoom: { from: 0, to: 50 } });
    // 51 values of 0 to 50: percentiles 2.5 and 47.5, shown from 0.25 to 49.75.
    expect(zoomed.outside).toBe(2);
  });

  it('smooth before thinning, and append without smoothing again', () => {
    const lines = new SeriesLines();
    const y = Float64Array.of(1, 2, 6);
    scene([lineOf([1, 2, 6], { y, length: 2 })], { smoothing: 0.5 }, lines);
    // Values that were smoothed are not read again.
    y[0] = 100;
    const grown = scene([lineOf([1, 2, 6], { y, length: 3 })], { smoothing: 0.5 }, lines);
    expect([...grown.lines[0].y.subarray(0, 3)]).toEqual([
      1,
      expect.closeTo(5 / 3, 12),
      expect.closeTo(7.25 / 1.75, 12),
    ]);
    const changed = scene([lineOf([1, 2, 6], { y, version: 1 })], { smoothing: 0.5 }, lines);
    expect(changed.lines[0].y[0]).toBe(100);
  });

  it('omit lines without values on the shown axis', () => {
    const timeless = lineOf([1, 2]);
    expect(scene([{ ...timeless, x: { ...timeless.x, time: null } }], { axis: 'time' }).lines).toEqual([]);
  });
});

it('a line that stays at 0 is shown in the middle of a readable axis', () => {
  expect(scene([lineOf([0, 0])]).y).toMatchObject({ from: -1, to: 1 });
});

describe('lines', () => {
  it('are black and bold for the ensemble, and hovering one rank fades the others', () => {
    expect(lineStyle(two[0], 0, plainView())).toEqual({ color: 'text', width: 2.5, opacity: 1, dash: [] });
    expect(lineStyle({ ...two[0], role: 'variant' }, 0, plainView())).toMatchObject({ color: 'text', dash: [8, 4] });
    expect(lineStyle(two[1], 1, plainView())).toMatchObject({ color: 'rank-1', width: 1.25, opacity: 1 });
    expect(lineStyle(two[1], 1, plainView({ hoveredRank: 1 })).opacity).toBe(1);
    expect(lineStyle(two[1], 1, plainView({ hoveredRank: 0 })).opacity).toBe(0.25);
    const hidden = plainView({ hoveredRank: 0, hiddenRanks: new Set([0]) });
    expect(lineStyle(two[1], 1, hidden).opacity).toBe(1);
  });

  it('repeat hues with dashes from rank 8 on', () => {
    const [first, ninth] = [rankLine(1, []), rankLine(1 + hues, [])].map((line) => lineStyle(line, 0, plainView()));
    expect(ninth.color).toBe(first.color);
    expect([first.dash, ninth.dash]).toEqual([[], [6, 3]]);
  });

  it('break at NaN, and show an isolated point', () => {
    const [x, y] = [Float64Array.of(0, 1, 2, 3, 4), Float64Array.of(1, 2, NaN, 5, NaN)];
    const calls: string[] = [];
    const pen = {
      moveTo: (left: number, top: number) => calls.push(`M${left},${top}`),
      lineTo: (left: number, top: number) => calls.push(`L${left},${top}`),
    };
    tracePath({ x, y, count: 5 }, { x: (value) => 10 * value, y: (value) => value }, pen);
    expect(calls).toEqual(['M0,1', 'L10,2', 'M30,5', 'L31,5']);
  });

  it('of one point are visible', () => {
    const calls: number[][] = [];
    const pen = { moveTo: (...to: number[]) => calls.push(to), lineTo: (...to: number[]) => calls.push(to) };
    const [x, y] = [Float64Array.of(1), Float64Array.of(5)];
    tracePath({ x, y, count: 1 }, { x: (value) => 10 * value, y: (value) => value }, pen);
    expect(calls).toEqual([
      [6, 5],
      [14, 5],
    ]);
  });
});

describe('descriptions', () => {
  it('summarize a chart', () => {
    expect(summarize('NLL', 'step', scene(two))).toBe(
      'NLL, step 0 to step 2. ensemble: latest 1, between 1 and 4. 1 rank, latest from 2 to 2.',
    );
    expect(summarize('NLL', 'step', scene([]))).toBe('NLL: no points yet.');
    expect(summarize('NLL', 'step', scene([rankLine(0, [1, NaN])]))).toContain('1 rank at no finite value');
  });

  it('give the nearest point at the cursor', () => {
    const values = readoutAt(scene(two).lines, 1.2);
    expect(values.map(({ label, value }) => [label, value])).toEqual([
      ['ensemble', 2],
      ['rank 1', 3],
    ]);
    expect(readoutSentence(values)).toBe('ensemble 2 · member 3');
    expect(values.map(({ x }) => x)).toEqual([1, 1]);
    expect(readoutSentence(values.slice(0, 1))).toBe('2');
    expect([formatPosition('step', 12_340.4), formatPosition('epoch', 3.25), formatPosition('time', 3840)]).toEqual([
      'step 12,340',
      'epoch 3.25',
      '1 h 04 m',
    ]);
  });
});

describe('tables and files', () => {
  it('contain each point, or 500 of them with both ends', () => {
    const small = seriesTable(scene(two).lines, 'step', { from: 0, to: 1 });
    expect(small.columns).toEqual(['step', 'ensemble', 'rank 1']);
    expect(small.rows).toEqual([
      ['step 0', 4, 5],
      ['step 1', 2, 3],
    ]);
    const long = scene([lineOf(Array.from({ length: 2001 }, (_, index) => index))]);
    const { rows, caption } = seriesTable(long.lines, 'step', { from: 0, to: 2000 });
    expect([rows.length, rows[0][1], rows[499][1], caption]).toEqual([
      500,
      0,
      2000,
      '500 of 2,001 points, evenly chosen',
    ]);
  });

  it('say how many points were measured where the page holds only some of them', () => {
    // Points at steps 0, 1, 2 of 21 that were measured in these two steps.
    const held = { ...lineOf([4, 2, 1], { label: 'ensemble' }), stepsPerPoint: 0.1 };
    const { lines } = scene([held]);
    expect(seriesTable(lines, 'step', { from: 0, to: 2 }).caption).toBe(
      '3 of 21 points, thinned with their extremes kept',
    );
    expect(spellThinning([held, rankLine(0, [1, 2, 3])], 'step', { from: 0, to: 2 })).toBe('6 of 24 points');
    expect(spellThinning([held], 'step', { from: 1, to: 2 })).toBe('2 of 11 points');
    expect(spellThinning(two, 'step', { from: 0, to: 2 })).toBeNull();
  });

  it('name events in the nearest rows, and only visible ones', () => {
    const events = [1, 1.2, 9].map((x) => ({ x, label: `at ${x}` }));
    const table = seriesTable(scene(two).lines, 'step', { from: 0, to: 2 }, events);
    expect(table.columns).toEqual(['step', 'ensemble', 'rank 1', 'events']);
    expect(table.rows.map((row) => row[3])).toEqual(['', 'at 1; at 1.2', '']);
  });

  it('write every visible point as CSV and quote names', () => {
    const series = [lineOf([1, NaN, 0.1], { label: 'a, "b"' })];
    expect(seriesCsv(series, 'step', { from: 1, to: 2 }).join('')).toBe(
      'series,step,epoch,time_seconds,value\r\n"a, ""b""",1,0.1,2,NaN\r\n"a, ""b""",2,0.2,4,0.1\r\n',
    );
    expect(csvField('plain')).toBe('plain');
  });

  it('draw an SVG of the same lines, with title, run, axes and legend', () => {
    const palette: Palette = {
      text: '#text',
      'text-muted': '#muted',
      border: '#border',
      surface: '#surface',
      accent: '#accent',
      warn: '#warn',
      'rank-1': '#rank-1',
    };
    const svg = sceneSvg(scene(two), { title: 'NLL <1>', runName: 'a & b', width: 480, height: 316, palette });
    // Plot: 64..408 by 72..272, as `ensemble` needs 72 of the 480 pixels. x from 0 to 2, y from 0.8 to 5.2, so 4 is at
    // 72 + 200 * 1.2 / 4.4.
    expect(svg).toContain('<path d="M64 126.55L236 217.45L408 262.91" fill="none" stroke="#text" stroke-width="2.5"');
    expect(svg).toContain('stroke="#rank-1" stroke-width="1.25" stroke-linejoin="round"');
    expect(svg).toContain('NLL &lt;1&gt; of a &amp; b');
    for (const text of ['>ensemble<', '>rank 1<', '>step<', '>0.5<', '>4<']) expect(svg).toContain(text);
  });
});

describe('an SVG', () => {
  const palette: Palette = { ...colourless, 'rank-0': '#rank-0' };
  /** Alternately 0 and 1, with a single 9. */
  const noisy = (rank: number) =>
    rankLine(
      rank,
      Array.from({ length: 2000 }, (_, x) => (x === 1001 ? 9 : x % 2)),
    );
  const drawn = (rank: number): string =>
    sceneSvg(scene([noisy(rank)]), { title: 'NLL', runName: 'run', width: 480, height: 316, palette });

  it('follows the points of a dense line, and dashes a line of upright strokes without losing its spike', () => {
    // The plot is 200 pixels high from 72 on, for values from -0.45 to 9.45, so 9 is at 81.09.
    expect(drawn(0)).toMatch(/d="M64 [\d.]+L[^"]* 81\.09L[^"]*" fill="none" stroke="#rank-0" stroke-width="1.25"/);
    const dashed = /<path d="(M[^"]*)" fill="none" stroke="#rank-0"/.exec(drawn(hues))?.[1] ?? '';
    const strokes = [...dashed.matchAll(/M([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)/g)].map((found) =>
      found.slice(1).map(Number),
    );
    expect(strokes.every(([left, , right]) => left === right)).toBe(true);
    expect(Math.min(...strokes.map(([, top]) => top))).toBeCloseTo(81.09, 1);
    // Of columns 64 to 463, those in gaps (6 to 8 of each 9) are omitted, except for the spike and the line's end.
    const inGaps = strokes.filter(([left]) => Math.floor(left) % 9 >= 6);
    expect(inGaps.length).toBeLessThanOrEqual(2);
  });
});

describe('labels of events', () => {
  const area = { left: 0, top: 0, right: 200, bottom: 300 };
  const notesOf = (...events: { x: number; label: string }[]) => placeNotes({ ...scene(two), events }, area);

  it('are stacked where they would overlap, as far as there is room', () => {
    // Two steps are 200 pixels; ten letters are 65.
    const crowd = Array.from({ length: 6 }, () => ({ x: 0, label: 'ten letter' }));
    expect(notesOf(...crowd, { x: 1, label: 'apart' })).toEqual([
      ...[0, 1, 2, 3].map((row) => ({ label: 'ten letter', left: 3, row })),
      { label: 'apart', left: 103, row: 0 },
    ]);
  });

  it('leave a low chart to its lines', () => {
    const crowd = Array.from({ length: 3 }, () => ({ x: 0, label: 'ten letter' }));
    expect(placeNotes({ ...scene(two), events: crowd }, { ...area, bottom: 150 })).toHaveLength(2);
  });

  it('end at their line near the right border, and are omitted outside the window', () => {
    expect(notesOf({ x: 1.9, label: 'ten letter' }, { x: 3, label: 'later' })).toEqual([
      { label: 'ten letter', left: 190 - 3 - 65, row: 0 },
    ]);
  });

  it('are in the summary and in the SVG', () => {
    const marked = { ...scene(two), events: [{ x: 1, label: 'learning rate 0.5' }] };
    expect(summarize('NLL', 'step', marked)).toContain('Marked: learning rate 0.5 at step 1.');
    const palette: Palette = { ...colourless, 'rank-1': '' };
    const svg = sceneSvg(marked, { title: 'NLL', runName: 'run', width: 480, height: 316, palette });
    expect(svg).toContain('>learning rate 0.5<');
    // The plot is 344 pixels wide, beside the names of the lines, and begins at 64.
    expect(svg).toContain('<path d="M236 72V272"');
  });
});

describe('URLs', () => {
  it('store a view without its default values', () => {
    const view = plainView({
      axis: 'time',
      logY: true,
      smoothing: 0.6,
      clipsOutliers: true,
      zoom: { from: 0.5, to: 20 },
      hiddenRanks: new Set([12, 3]),
    });
    const query = viewToQuery(view);
    expect(query).toEqual({ axis: 'time', log: 'y', smooth: '0.6', clip: '1', zoom: '0.5_20', hide: '3.12' });
    const { axis, logX, logY, smoothing, clipsOutliers, zoom, hiddenRanks } = view;
    expect(viewFromQuery(query)).toEqual({ axis, logX, logY, smoothing, clipsOutliers, zoom, hiddenRanks });
    expect(viewToQuery(plainView())).toEqual({});
  });

  it('with invalid values give the defaults', () => {
    const typed = viewFromQuery({ axis: 'years', smooth: '7', zoom: '5_2', hide: 'x.2' });
    expect(typed).toMatchObject({ axis: 'step', smoothing: 0, zoom: null, hiddenRanks: new Set([2]) });
  });
});

describe('many ranks', () => {
  const ranks = Array.from({ length: 9 }, (_, rank) => rankLine(rank, [rank, 8 - rank, rank === 4 ? NaN : 1]));
  const series = [...ranks, lineOf([4, 4, 4])];

  it('are a band from the smallest to the largest, without values that are not finite', () => {
    const { members, lines } = scene(series);
    expect([...(members?.lower.y ?? [])]).toEqual([0, 0, 1]);
    expect([...(members?.upper.y ?? [])]).toEqual([8, 8, 1]);
    expect([...(members?.upper.x ?? [])]).toEqual([0, 1, 2]);
    expect(backToFront(lines).map((line) => line.series.label)).toEqual(['line']);
  });

  it('leave the hovered one a line in front of the band', () => {
    const { lines, members } = scene(series, { hoveredRank: 3 });
    expect(members).not.toBeNull();
    expect(backToFront(lines).map((line) => line.series.label)).toEqual(['rank 3', 'line']);
  });

  it('are lines as long as eight are enough', () => {
    expect(scene(ranks.slice(1)).members).toBeNull();
  });
});

describe('a smoothed line', () => {
  it('has its measured values faintly behind it, which a rank has not', () => {
    const strokes = strokesOf(scene([lineOf([0, 1]), rankLine(1, [2, 4])], { smoothing: 0.5 }));
    // s_1 = (0.5 * 0 + 0.5 * 1) / (1 - 0.25) = 2/3; for the rank (0.5 * 1 + 0.5 * 4) / 0.75 = 10/3.
    const drawn = strokes.map(({ thinned, style }) => [style.opacity, ...thinned.y.subarray(0, thinned.count)]);
    expect(drawn).toEqual([
      [1, 2, expect.closeTo(10 / 3)],
      [0.3, 0, 1],
      [1, 0, expect.closeTo(2 / 3)],
    ]);
  });
});

it('a run that ended has no value where a longer one goes on', () => {
  const [short, long] = [lineOf([5, 6, 7], { id: 'short' }), lineOf([1, 2, 3, 4, 5, 6, 7, 8], { id: 'long' })];
  const at = (x: number) => readoutAt(scene([short, long]).lines, x).map(({ id, value }) => [id, value]);
  expect(at(2)).toEqual([
    ['short', 7],
    ['long', 3],
  ]);
  // Within one step of its last point, at which the next one could not have been measured yet.
  expect(at(3)).toEqual([
    ['short', 7],
    ['long', 4],
  ]);
  expect(at(5)).toEqual([['long', 6]]);
});
