import { describe, expect, it } from 'vitest';
import type { PredictionData } from '../../../core/protocol/pages/run-data.ts';
import { shownPlaces } from '../../../src-renderer/views/run/samples/use-sample-view.ts';
import { type SampleTable, sampleTable, sketchSeries } from '../../../src-renderer/views/run/samples/sample-table.ts';

/** One member. Chosen classes 0, 1, 0 and none; labels 0, 0, 1, 1. */
const data: PredictionData = {
  combination: 'mean',
  task: 'classification',
  kind: 'probabilities',
  ranks: [0],
  epoch: 0,
  samples: 4,
  positions: 1,
  width: 2,
  outputs: [Float32Array.of(0.9, 0.1, 0.4, 0.6, 0.7, 0.3, NaN, NaN)],
  targets: Int32Array.of(0, 0, 1, 1),
  feature: null,
  classNames: null,
  targetNames: null,
  areHeldOut: false,
  weights: null,
  places: null,
};
function tableOf(given: PredictionData): SampleTable {
  const table = sampleTable(given);
  if (table === null) throw new Error('These predictions have no table.');
  return table;
}

const all = { isWrongOnly: false, label: null, predicted: null };

describe('the samples that are listed', () => {
  const table = tableOf(data);

  it('are in the wished order, and only wrong ones or those of a class', () => {
    expect([...shownPlaces(table, { ...all, order: 'sample' })]).toEqual([0, 1, 2, 3]);
    // NLL: 0.105, 0.916, 1.204, and NaN first.
    expect([...shownPlaces(table, { ...all, order: 'error' })]).toEqual([3, 2, 1, 0]);
    expect([...shownPlaces(table, { ...all, order: 'sample', isWrongOnly: true })]).toEqual([1, 2, 3]);
    expect([...shownPlaces(table, { ...all, order: 'sample', label: 1 })]).toEqual([2, 3]);
    expect([...shownPlaces(table, { order: 'error', isWrongOnly: true, label: 0, predicted: null })]).toEqual([1]);
  });

  it('are those that are taken for a class; a sample without a prediction is taken for none, and is wrong', () => {
    expect([...shownPlaces(table, { ...all, order: 'sample', predicted: 0 })]).toEqual([0, 2]);
    expect([...shownPlaces(table, { ...all, order: 'sample', label: 0, predicted: 1 })]).toEqual([1]);
    const first = tableOf({ ...data, targets: Int32Array.of(0, 0, 1, 0) });
    expect([...shownPlaces(first, { ...all, order: 'sample', isWrongOnly: true })]).toEqual([1, 2, 3]);
  });

  it('belong to samples of the split, also where each has several steps of which some do not count', () => {
    const steps = tableOf({ ...data, positions: 3, places: Int32Array.of(0, 2, 3, 5) });
    expect([0, 1, 2, 3].map(steps.sampleAt)).toEqual([0, 0, 1, 1]);
    expect([0, 1, 2, 3].map((place) => steps.rowAt(place).sample)).toEqual([
      '0, step 0',
      '0, step 2',
      '1, step 0',
      '1, step 2',
    ]);
  });
});

describe('the sketch of a series', () => {
  const series = (steps: number, channels: number, ...values: number[]) =>
    sketchSeries({ kind: 'series', name: null, steps, channels, values: Float32Array.from(values) }, 10, 4);

  it('has a line for each channel, on one scale', () => {
    expect(series(3, 2, 0, 4, 1, 3, 2, 2)).toEqual({
      paths: ['M0.00 4.00L5.00 3.00L10.00 2.00', 'M0.00 0.00L5.00 1.00L10.00 2.00'],
      range: [0, 4],
    });
  });

  it('leaves a gap where a value is not finite, and draws a constant in the middle', () => {
    expect(series(4, 1, 1, NaN, 1, 1).paths).toEqual(['M0.00 2.00M6.67 2.00L10.00 2.00']);
    expect(series(1, 1, 5)).toEqual({ paths: ['M5.00 2.00'], range: [5, 5] });
    expect(series(2, 1, NaN, Infinity)).toEqual({ paths: [], range: null });
  });
});
