import { readdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { expect, it } from 'vitest';
import { type PostprocessingRequest, usualRequest } from '../../core/postprocessing/request.ts';
import { distanceScoreNames } from '../../core/postprocessing/outside/distances.ts';
import { postprocessingSchema, predictionScoreNames } from '../../core/postprocessing/schema.ts';
import type { RunRecord } from '../../core/protocol/run/record.ts';
import { calibrateRun } from '../../src-main/calibration/calibrate-run.ts';
import { readPredictions } from '../../src-main/rpc/runs/predictions.ts';
import { headlineFigures } from '../../src-renderer/views/run/ensemble/headline-figures.ts';
import { openEnsemble } from '../../workers/index.ts';
import { expectPredictedAsTrained } from './expect-predicted.ts';
import { metricColumns, metricValues, train, useHub } from './harness.ts';

const { hub } = useHub();
const calibrate = (folder: string, record: RunRecord, request: PostprocessingRequest) =>
  calibrateRun(folder, record, { set: 'ensemble-best', split: 'validation', request, corruptions: false });
const last = (folder: string, metric: string): number => Number(metricValues(folder, metric).at(-1));

it('an ensemble learns several labels of a sample, and early stopping watches a metric on request', async () => {
  const { record, folder } = await train(hub(), 'labels', {
    members: 2,
    membersPerDevice: 2,
    earlyStopping: { enabled: true, monitor: 'val/ens_auroc', patience: 15 },
  });
  expect(record.status).toBe('finished');
  await expectPredictedAsTrained({ folder, record });
  expect(last(folder, 'val/ens_f1')).toBeGreaterThan(0.9);
  expect(last(folder, 'val/ens_auroc')).toBeGreaterThan(0.95);
  expect(record.summary?.evaluatedSets[0].ensemble.exact_match).toBeGreaterThan(0.8);
  // The headline of the page is computed from what was kept, and is the metric of that evaluation.
  const kept = await readPredictions({ hub: hub() }, record.id, { split: 'validation', name: 'best' });
  expect(kept).toMatchObject({ task: 'multi-label', kind: 'logits', width: 2 });
  const row = metricColumns(folder).get('epoch')?.indexOf(String(kept?.epoch)) ?? -1;
  const figures = kept === null ? [] : headlineFigures(kept, record.config.metrics.nllEpsilon);
  expect(figures.map(({ name }) => name)).toEqual(expect.arrayContaining(['nll', 'acc', 'ambiguity']));
  for (const { name, value, hasSubject } of figures) {
    const column = metricColumns(folder).get(hasSubject ? `val/ens_${name}` : `val/${name}`) ?? [];
    expect(value, name).toBeCloseTo(Number(column[row]), 5);
  }
  const labels = record.summary?.evaluatedSets[0].labels ?? [];
  expect(labels.map(({ label }) => label)).toEqual(['right', 'above']);
  for (const { samples, f1 } of labels) {
    // Half of the 50 samples of the test split, on average.
    expect(samples).toBeGreaterThan(10);
    expect(f1).toBeGreaterThan(0.8);
  }
  const { postprocessing } = await calibrate(folder, record, { ...usualRequest, method: 'platt', alpha: 0.2 });
  const { calibration, judged, conformal, measured } = postprocessing;
  // The members are calibrated, and 25 samples show no more.
  expect(judged).toMatchObject({ method: 'platt', samples: 25, folds: 5, isKept: calibration !== null });
  expect(conformal).toMatchObject({ method: 'thr', isClassConditional: true });
  expect(measured?.conformal?.coverage).toBeGreaterThan(0.6);
  expect(measured?.calibration?.after.nll).toBeLessThan(0.4);
  const ensemble = await openEnsemble(folder);
  const found = await ensemble.predict({ prepared: Float32Array.of(0.9, -0.9) });
  expect(found.kind === 'labels' && [...(found.sets ?? [])]).toEqual([1, 0]);
  ensemble.dispose();
});

it('an ensemble learns the rates of counts', async () => {
  const { record, folder } = await train(hub(), 'counts', { members: 2 });
  expect(record.status).toBe('finished');
  // The counts of a rate have a variance of 2/3.
  await expectPredictedAsTrained({ folder, record });
  expect(last(folder, 'val/ens_mse')).toBeLessThan(1);
  expect(last(folder, 'val/ens_nll')).toBeLessThan(1.8);
  // Poisson distributions would have the variances 1 and 4: the mean of 2/3 and 1/6 is 0.42.
  const { postprocessing } = await calibrate(folder, record, usualRequest);
  const { calibration, conformal, measured } = postprocessing;
  const [scale] = calibration?.method === 'sigma' ? calibration.scales : [];
  expect(scale ** 2).toBeGreaterThan(0.3);
  expect(scale ** 2).toBeLessThan(0.6);
  expect(conformal).toMatchObject({ kind: 'intervals', method: 'sigma-scaled' });
  expect(measured?.conformal?.coverage).toBeGreaterThan(0.8);
  const ensemble = await openEnsemble(folder);
  const found = await ensemble.predict({ prepared: Float32Array.of(0, 1) });
  if (found.kind !== 'values') throw new Error('Counts are values.');
  expect(found.intervals?.lower[0]).toBe(0);
  expect(found.intervals?.upper[1]).toBeGreaterThan(4.5);
  ensemble.dispose();
});

it('an ensemble learns ordered classes, and its predictions are class probabilities for pages', async () => {
  const { record, folder } = await train(hub(), 'grades', { members: 2, checkpoints: { monitor: 'val/ens_kappa' } });
  expect(record.status).toBe('finished');
  await expectPredictedAsTrained({ folder, record });
  expect(last(folder, 'val/ens_kappa')).toBeGreaterThan(0.5);
  expect(record.summary?.best?.metric).toBe('val/ens_kappa');
  const kept = await readPredictions({ hub: hub() }, record.id, { split: 'validation', name: 'best' });
  expect(kept).toMatchObject({ task: 'ordinal', kind: 'logits', width: 3, samples: 75 });
  // Each class must be covered on its own, so a set has some classes too many.
  const request = { ...usualRequest, isClassConditional: true, alpha: 0.2 };
  const { postprocessing, path } = await calibrate(folder, record, request);
  expect(postprocessingSchema.parse(JSON.parse(await readFile(path, 'utf8')))).toEqual(postprocessing);
  const { measured, conformal, set } = postprocessing;
  expect(set.members.map(({ rank, checkpoint }) => [rank, checkpoint])).toEqual(
    [0, 1].map((rank) => [rank, 'ensemble-best']),
  );
  expect(conformal).toMatchObject({
    compared: { samples: expect.any(Number), methods: [{ method: 'thr' }, { method: 'raps' }, { method: 'aps' }] },
    thresholds: [expect.any(Number), expect.any(Number), expect.any(Number)],
  });
  expect(measured?.conformal?.coverage).toBeGreaterThan(0.7);
  expect(measured?.outside?.others).toMatchObject([{ name: 'other numbers', kind: 'data', samples: 300 }]);
  // Numbers below 0 are far from those of the training, but the members are certain of their grade.
  const scores = measured?.outside?.others[0].scores ?? {};
  expect(Object.keys(scores)).toEqual([...predictionScoreNames, ...distanceScoreNames]);
  expect(scores['input-mahalanobis'].auroc).toBeGreaterThan(0.95);
  expect(scores.entropy.auroc).toBeLessThan(0.5);

  const folderOfFits = dirname(path);
  for (const outside of ['knn', 'input-mahalanobis'] as const) await calibrate(folder, record, { ...request, outside });
  expect((await readdir(folderOfFits)).sort()).toEqual([
    expect.stringMatching(/^ensemble-best-[\da-f]{16}\.safetensors$/),
    'ensemble-best.json',
  ]);
  const ensemble = await openEnsemble(folder);
  const { judgement } = await ensemble.predict({ prepared: Float32Array.of(1.5, -4) });
  expect([...(judgement?.isOutside ?? [])]).toEqual([0, 1]);
  ensemble.dispose();
});

it("an ensemble learns the project's quantiles", async () => {
  const { record, folder } = await train(hub(), 'quantiles', { members: 2 });
  expect(record.status).toBe('finished');
  expect(record.summary?.best?.metric).toBe('val/ens_pinball');
  await expectPredictedAsTrained({ folder, record });
  // The exact quantiles cover 80 %.
  const coverage = last(folder, 'val/ens_interval_coverage');
  expect(coverage).toBeGreaterThan(0.6);
  expect(coverage).toBeLessThan(0.97);
  const { postprocessing } = await calibrate(folder, record, usualRequest);
  expect(postprocessing).toMatchObject({ calibration: null, conformal: { method: 'cqr', quantiles: [0, 2] } });
  expect(postprocessing.measured?.conformal?.coverage).toBeGreaterThan(0.75);
});

it('a layer and a loss of the project train a model of two inputs', async () => {
  const { record, folder } = await train(hub(), 'sensors', { devices: 2, checkpoints: { monitor: 'val/ens_chi2' } });
  expect(record).toMatchObject({ status: 'finished', error: null });
  // 1 for the exact curve; the mean of all measurements has more than 50.
  expect(last(folder, 'val/ens_chi2')).toBeLessThan(2);
});

it('jointly trained members learn several labels of a sample as one product of experts', async () => {
  const { record, folder } = await train(hub(), 'labels', { members: 2, strategy: { kind: 'joint' } });
  expect(record).toMatchObject({ status: 'finished', error: null, summary: { best: { metric: 'val/product_nll' } } });
  expect(last(folder, 'val/product_f1')).toBeGreaterThan(0.9);
});

it('a model with several outputs learns each of them, and any can be monitored', async () => {
  const { record, folder } = await train(hub(), 'heads', {
    members: 2,
    membersPerDevice: 2,
    checkpoints: { monitor: 'val/distance/ens_mse' },
  });
  expect(record).toMatchObject({ status: 'finished', error: null });
  expect(record.summary?.best?.metric).toBe('val/distance/ens_mse');
  expect(last(folder, 'val/ens_acc')).toBeGreaterThan(0.85);
  expect(last(folder, 'val/half/member_1_acc')).toBeGreaterThan(0.85);
  // The distances have a variance of 0.08.
  expect(last(folder, 'val/distance/ens_mse')).toBeLessThan(0.04);
  const [set] = record.summary?.evaluatedSets ?? [];
  expect(set.ensemble['half/acc']).toBeGreaterThan(0.8);
  expect(set.members['distance/mse']).toHaveLength(2);
  const kept = await readPredictions({ hub: hub() }, record.id, { split: 'validation', name: 'best' });
  expect(kept).toMatchObject({ kind: 'logits', width: 2, samples: 75 });
  expect(kept?.outputs).toHaveLength(1);
  expect(record.outputs?.map(({ name, task }) => [name, task])).toEqual([
    ['distance', 'regression'],
    ['half', 'classification'],
  ]);
  await expectPredictedAsTrained({ folder, record });
});
