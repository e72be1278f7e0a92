import { describe, expect, it } from 'vitest';
import { SeriesLines } from '../../../src-renderer/charts/series-lines.ts';
import { endLabelRoom, endLabels, namesAllEnds, spreadOut } from '../../../src-renderer/charts/scene/end-labels.ts';
import { placeIn } from '../../../src-renderer/charts/scene/plot.ts';
import { composeScene } from '../../../src-renderer/charts/scene/scene.ts';
import { sceneSvg } from '../../../src-renderer/charts/scene/svg.ts';
import type { ChartSeries, ChartView } from '../../../src-renderer/charts/types.ts';
import { lineOf, plainView, rankLine } from './lines.ts';

const palette = { text: 'ink', 'text-muted': 'grey', border: '', surface: '', accent: '', warn: '' };
const area = { left: 50, top: 0, right: 350, bottom: 110 };

function sceneOf(series: readonly ChartSeries[], view: Partial<ChartView> = {}) {
  const props = { title: 'NLL', runName: 'run', yLabel: 'NLL', series, view: plainView(view) };
  return composeScene(props, new SeriesLines(), { width: 300, height: 110 });
}

/**
 * Labels by text: where the line ends, and where the text is. The y axis is 0 to 11 with room of 0.5, so 10 pixels are
 * 1.
 */
function labelsOf(series: readonly ChartSeries[], view: Partial<ChartView> = {}) {
  const scene = { ...sceneOf(series, view) };
  scene.y = { ...scene.y, from: 0, to: 11 };
  return endLabels({ scene, area, place: placeIn(scene, area), palette }, 400).map(({ text, from, middle }) => [
    text,
    from,
    middle,
  ]);
}

const ensemble = (...values: number[]) => lineOf(values, { label: 'ensemble' });

describe('places of labels', () => {
  it('are the wished ones where these are far enough apart', () => {
    expect(spreadOut([10, 30, 60], 14, { from: 0, to: 100 })).toEqual([10, 30, 60]);
    expect(spreadOut([], 14, { from: 0, to: 100 })).toEqual([]);
  });

  it('move as little as possible: two at one place move half the distance each', () => {
    expect(spreadOut([50, 50], 14, { from: 0, to: 100 })).toEqual([43, 57]);
    // The least squares of a - 50, b - 50 and c - 52 with a + 14 <= b and b + 14 <= c: b is their mean minus nothing,
    // 152 / 3.
    const [a, b, c] = spreadOut([50, 50, 52], 14, { from: 0, to: 100 });
    expect([a, b, c]).toEqual([152 / 3 - 14, 152 / 3, 152 / 3 + 14]);
  });

  it('join groups that collide after they have spread', () => {
    // 10, 10 spread to 3 and 17; 20 is then only 3 away from 17: all three spread around their mean of 40 / 3.
    expect(spreadOut([10, 10, 20], 14, { from: -50, to: 100 }).map((place) => place - 40 / 3)).toEqual([
      expect.closeTo(-14, 9),
      expect.closeTo(0, 9),
      expect.closeTo(14, 9),
    ]);
  });

  it('stay within the range', () => {
    expect(spreadOut([2, 3], 14, { from: 7, to: 100 })).toEqual([7, 21]);
    expect(spreadOut([99, 99], 14, { from: 7, to: 93 })).toEqual([79, 93]);
  });
});

describe('names at the ends of lines', () => {
  it('are at the height of the last finite value', () => {
    expect(labelsOf([ensemble(2, 10, NaN), rankLine(1, [3, 4, 5])])).toEqual([
      ['ensemble', 10, 10],
      ['rank 1', 60, 60],
    ]);
  });

  it('do not collide', () => {
    expect(labelsOf([ensemble(5, 5), rankLine(0, [5, 5])])).toEqual([
      ['ensemble', 60, 53],
      ['rank 0', 60, 67],
    ]);
  });

  it('follow the visible part of x', () => {
    expect(labelsOf([ensemble(2, 10, 4), rankLine(1, [3, 1, 5])], { zoom: { from: 0, to: 1 } })).toEqual([
      ['ensemble', 10, 10],
      ['rank 1', 100, 100],
    ]);
  });

  it('are those of the ensemble and the lit rank where there are more than eight', () => {
    const ranks = Array.from({ length: 9 }, (_, rank) => rankLine(rank, [rank, rank]));
    const texts = (view = {}) => labelsOf([ensemble(9, 9), ...ranks], view).map(([text]) => text);
    expect(texts()).toEqual(['ensemble']);
    expect(texts({ hoveredRank: 3 })).toEqual(['ensemble', 'rank 3']);
  });

  it('of the ensemble and the outermost ranks remain where the plot has no room for all', () => {
    // 110 pixels have room for 7 of 9 names.
    const ranks = Array.from({ length: 8 }, (_, rank) => rankLine(rank, [rank + 1, rank + 1]));
    expect(labelsOf([ensemble(5, 5), ...ranks]).map(([text]) => text)).toEqual([
      'rank 7',
      'rank 6',
      'rank 5',
      'ensemble',
      'rank 2',
      'rank 1',
      'rank 0',
    ]);
  });

  it('need room for the longest, none for a single line, and leave names that are too long to the legend', () => {
    const { lines } = sceneOf([ensemble(1, 2), rankLine(12, [1, 2])]);
    // 8 characters of 7 pixels after a stroke of 16.
    expect(endLabelRoom(lines, 400)).toBe(16 + 8 * 7);
    expect(endLabelRoom(lines.slice(0, 1), 400)).toBe(0);
    // 22 % of 200 pixels are 44: too few for `ensemble`, and for `rank 12`.
    expect(endLabelRoom(lines, 200)).toBe(0);
    const long = sceneOf([ensemble(1, 2), lineOf([1, 2], { id: 'p', label: 'product of experts', role: 'variant' })]);
    expect([namesAllEnds(long.lines, 400), namesAllEnds(long.lines, 800)]).toEqual([false, false]);
    expect(namesAllEnds(lines, 400)).toBe(true);
  });

  it('are in the exported drawing, each once beside its line and once in the legend', () => {
    const scene = sceneOf([ensemble(1, 2), rankLine(1, [1, 3])]);
    const svg = sceneSvg(scene, { title: 'NLL', runName: 'run', width: 600, height: 300, palette });
    expect(svg.match(/>rank 1</g)).toHaveLength(2);
    // The plot ends where the names begin: 600 - 72.
    expect(svg).toContain('<path d="M531 ');
  });
});
