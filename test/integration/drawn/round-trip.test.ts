import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { usualRequest } from '../../../core/postprocessing/request.ts';
import { calibrateRun } from '../../../src-main/calibration/calibrate-run.ts';
import { dataFolders } from '../../../src-main/store/home.ts';
import { startBackend } from '../../../workers/backends/backend.ts';
import { openEnsemble as openInBrowser } from '../../../workers/inference/browser.ts';
import { openEnsemble } from '../../../workers/index.ts';
import type { Ensemble } from '../../../workers/inference/ensemble.ts';
import { notRun } from '../../environment/reasons.ts';
import { noTorch, python } from '../../unit/exchange/python.ts';
import { useHub } from '../harness.ts';
import * as ways from '../ways/other-ways.ts';
import * as answers from './answers.ts';
import { type DrawnCase, drawnCase } from './draw.ts';
import { type WrittenTable, writeTable } from './draw-table.ts';
import { DrawnRuns, type TrainedRun } from './drawn-runs.ts';
import { usualData } from '../projects/drawn/drawn-project.ts';
import * as reference from './reference.ts';

const { hub } = useHub();
/** Cases that are drawn; 500 each night. */
const numRuns = Number(process.env.TUTTI_ROUND_TRIPS ?? 12);
const seed = Number(process.env.TUTTI_REFERENCE_SEED ?? 27);

let root = '';
let runs: DrawnRuns;
let site: Server;
let siteUrl = '';
beforeAll(async () => {
  await startBackend('cpu');
  root = await mkdtemp(join(tmpdir(), 'tutti-drawn-'));
  runs = new DrawnRuns(hub(), root);
  site = createServer((request, response) => {
    readFile(join(root, decodeURI(request.url ?? ''))).then(
      (bytes) => response.writeHead(200).end(bytes),
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  const address = site.address();
  siteUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
});
afterAll(async () => {
  await runs.close();
  site.close();
  await rm(root, { recursive: true, force: true });
});

/** For Python, which starts once for all. */
const forPython: { about: string; folder: string; expected: ways.Answers; scale: { mean: number; std: number }[] }[] =
  [];
let cases = 0;

/** A drawn case that was trained, in a folder of its own. */
interface Trained extends TrainedRun {
  drawn: DrawnCase;
  own: string;
  table: WrittenTable | null;
  images: string;
}

async function train(drawn: DrawnCase): Promise<Trained> {
  const name = `case-${cases++}`;
  const own = join(root, name);
  await mkdir(own, { recursive: true });
  const place = await runs.place(drawn);
  const all = { ...usualData, ...drawn.data };
  const table = drawn.table && (await writeTable(place.folder, name, drawn.table, drawn.task, all));
  const images = join(place.folder, name);
  if (all.kind === 'images') await answers.drawImages(images, all.classNames, all.samples);
  const data = { ...drawn.data, ...(all.kind === 'images' && { file: name }), ...table?.data };
  const run = await runs.train({ ...drawn, data });
  expect(run.record).toMatchObject({ status: 'finished', error: null });
  return { ...run, drawn: { ...drawn, data }, own, table, images };
}

/** Expects that what the run says of its evaluation follows from the predictions that it kept. */
async function expectJudged({ folder, record }: TrainedRun): Promise<reference.Kept> {
  const { task, config, summary } = record;
  const isJoint = reference.answersJointly(config, task);
  const score = reference.scoreName(task);
  for (const { set, split, ranks, ensemble } of summary?.evaluatedSets ?? []) {
    const kept = await reference.readKept(folder, record, ranks, split, set);
    const own = reference.scoreOf(kept, isJoint);
    expect([set, ensemble[isJoint ? `product_${score}` : score]]).toEqual([set, expect.closeTo(own, 5)]);
  }
  const [{ ranks, split }] = summary?.evaluatedSets ?? [];
  const best = await reference.readKept(folder, record, ranks, 'validation', 'best');
  expect(summary?.best?.metric).toBe(`val/${isJoint ? 'product' : 'ens'}_${score}`);
  expect(summary?.best?.value).toBeCloseTo(reference.scoreOf(best, isJoint), 5);
  return reference.readKept(folder, record, ranks, split, 'final');
}

async function samplesOf(
  { drawn, own, table, images, record }: Trained,
  ensemble: Ensemble,
): Promise<answers.GivenSamples> {
  if (table !== null) return answers.givenTable(table);
  if (drawn.data.kind === 'images')
    return answers.givenImages(images, await answers.imagesInOrder(own, ensemble, images));
  const { project } = await runs.place(drawn);
  const { config } = record;
  const hyperparameters = project.hyperparameters.parse(config.hyperparameters);
  const { test, validation } = await project.data({
    hyperparameters,
    config,
    folders: dataFolders(),
    seed: config.seed,
  });
  const dataset = test ?? validation;
  if (dataset === undefined) throw new Error('A drawn project has a validation split.');
  return answers.givenArrays(own, dataset);
}

/** Expects numbers in the order of their size. */
function expectNaturalOrder(names: readonly string[]): void {
  if (names.every((name) => /^\d+$/.test(name)))
    expect(names).toEqual([...names].sort((a, b) => Number(a) - Number(b)));
}

async function expectRoundTrip(drawn: DrawnCase): Promise<void> {
  const trained = await train(drawn);
  const { folder, record } = trained;
  const { task } = drawn;
  const kept = await expectJudged(trained);
  const isJoint = reference.answersJointly(record.config, task);
  let ensemble = await openEnsemble(folder, { set: 'final' });
  const given = await samplesOf(trained, ensemble);
  const scale = answers.scaleOf(ensemble, kept.width);
  const rows = answers.matchRows(kept, await ensemble.outputs(given.input), given, scale);
  let found = await ensemble.predict(given.input);
  expectAnswers(found, kept, rows, isJoint, scale);
  if (given.targets !== null) expectNaturalOrder(ensemble.description.classNames ?? []);
  if (drawn.isCalibrated) {
    const split = 'validation' as const;
    await calibrateRun(folder, record, { set: 'final', split, request: usualRequest, corruptions: false });
    ensemble.dispose();
    ensemble = await openEnsemble(folder, { set: 'final' });
    found = await ensemble.predict(given.input);
    expectConsistent(found, isJoint && task === 'poisson-regression');
  }
  await expectEveryWay(trained, ensemble, given, found, scale);
  ensemble.dispose();
}

/** Expects what the run's members answer together, by the formulas of the documentation. */
function expectAnswers(
  found: Awaited<ReturnType<Ensemble['predict']>>,
  kept: reference.Kept,
  rows: readonly number[],
  isJoint: boolean,
  scale: { mean: number; std: number }[],
): void {
  const isValues = found.kind === 'values' || found.kind === 'quantiles';
  rows.forEach((row, sample) => {
    const right = reference.answerOf(kept, sample, isJoint);
    right.forEach((value, k) => {
      const { mean, std } = isValues ? scale[k] : { mean: 0, std: 1 };
      const answer = (found.mean[row * right.length + k] - mean) / std;
      expect(answer, `answer ${k} to sample ${sample}`).toBeCloseTo(value, 5);
    });
    if (found.kind === 'classes') expect(right[found.labels[row]]).toBeCloseTo(Math.max(...right), 6);
    if (!isValues || isJoint) return;
    reference.epistemicOf(kept, sample).forEach((value, k) => {
      expect(found.epistemic[row * right.length + k] / scale[k].std, 'epistemic').toBeCloseTo(value, 5);
    });
  });
  expectConsistent(found, isJoint && kept.task === 'poisson-regression');
}

/** Expects what holds for every answer, whatever was fitted. */
function expectConsistent(found: Awaited<ReturnType<Ensemble['predict']>>, isProductOfCounts: boolean): void {
  const { width } = found;
  if (found.kind === 'classes') {
    found.labels.forEach((label, n) => {
      const own = found.mean.subarray(n * width, (n + 1) * width);
      expect(own.reduce((sum, p) => sum + p, 0)).toBeCloseTo(1, 5);
      expect(own[label]).toBe(Math.max(...own));
      const set = found.sets?.subarray(n * width, (n + 1) * width);
      // The most probable class is the first of every set that is not empty.
      if (set?.includes(1)) expect(set[label]).toBe(1);
    });
  }
  if (found.kind !== 'values') return;
  found.standardDeviation.forEach((deviation, i) => {
    const [epistemic, aleatoric] = [found.epistemic[i], found.aleatoric?.[i] ?? 0];
    // A product of counts is one distribution, whose deviation has no part between members.
    const right = isProductOfCounts ? aleatoric : Math.hypot(epistemic, aleatoric);
    expect(Math.abs(deviation - right)).toBeLessThanOrEqual(1e-6 * right);
  });
}

async function expectEveryWay(
  { drawn, folder, own }: Trained,
  ensemble: Ensemble,
  given: answers.GivenSamples,
  found: Awaited<ReturnType<Ensemble['predict']>>,
  scale: { mean: number; std: number }[],
): Promise<void> {
  const expected = answers.answersOf(found, ensemble);
  const { input } = given;
  await answers.expectSameFile(own, ensemble, given, found);
  const served = await ways.byServedModel(ensemble, input, Object.keys(expected));
  answers.expectSame('serve', served, expected, { scale, rounding: 'float64' });
  const onnx = await ways.byOnnx(ensemble, input, ways.onnxFile(ensemble));
  answers.expectSame('onnx', onnx, answers.ofGraph(expected), { scale, rounding: 'float32' });
  await answers.exportForBrowsers(folder, join(own, 'exported'));
  const inBrowser = await openInBrowser(`${siteUrl}${own.slice(root.length)}/exported`);
  const shown = answers.answersOf(await inBrowser.predict(input), inBrowser);
  inBrowser.dispose();
  answers.expectSame('browser', shown, expected, { scale, rounding: 'float64' });
  if (noTorch !== null) return;
  await ways.writePytorch(own, ensemble);
  await writeFile(join(own, 'pytorch.json'), JSON.stringify(ways.preparedInputs(ensemble, input)));
  forPython.push({ about: JSON.stringify(drawn), folder: own, expected: answers.ofGraph(expected), scale });
}

it('a run of any kind answers in every way what it was judged by', { timeout: 600_000 }, async () => {
  await fc.assert(fc.asyncProperty(drawnCase, expectRoundTrip), { numRuns, seed, endOnFailure: true });
});

it.skipIf(noTorch !== null)(`the same in PyTorch${notRun(noTorch)}`, () => {
  const script = join(import.meta.dirname, '..', 'ways', 'predict.py');
  const output = execFileSync(python, [script, ...forPython.map(({ folder }) => folder)], {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  const lines = output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, ways.Answers>);
  expect(lines).toHaveLength(forPython.length);
  for (const [i, { about, expected, scale }] of forPython.entries())
    answers.expectSame(`pytorch: ${about}`, lines[i].pytorch, expected, { scale, rounding: 'float32' });
});
