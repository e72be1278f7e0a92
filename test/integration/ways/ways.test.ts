import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { predictionColumns } from '../../../core/ensemble/columns.ts';
import type { EnsemblePredictions } from '../../../core/ensemble/predictions.ts';
import { allTensors } from '../../../core/ensemble/tensors.ts';
import { messageOf } from '../../../core/text/errors.ts';
import { usualRequest } from '../../../core/postprocessing/request.ts';
import { calibrateRun } from '../../../src-main/calibration/calibrate-run.ts';
import { predictRun } from '../../../src-main/predictions/predict-run.ts';
import { startBackend } from '../../../workers/backends/backend.ts';
import { openEnsemble } from '../../../workers/index.ts';
import type { Ensemble } from '../../../workers/inference/ensemble.ts';
import type { EnsembleInput } from '../../../workers/inference/inputs.ts';
import { outputNames } from '../../../workers/onnx/outputs.ts';
import { findChromium } from '../../e2e/support/chromium.ts';
import { notRun } from '../../environment/reasons.ts';
import { largestError } from '../../unit/exchange/layer-models.ts';
import { noOnnx } from '../../unit/exchange/python.ts';
import { projectFolder, train, useHub } from '../harness.ts';
import * as ways from './other-ways.ts';
import { guideTable } from './guide-table.ts';
import { type TrialProject, trialProjects } from './trial-projects.ts';

const { hub } = useHub();
const chromium = findChromium();

let root = '';
let browser: ways.BrowserWay | null = null;
beforeAll(async () => {
  await startBackend('cpu');
  root = await mkdtemp(join(tmpdir(), 'tutti-ways-'));
  await mkdir(join(root, 'site'));
  if (chromium !== null) browser = await ways.BrowserWay.open(chromium, join(root, 'site'));
});
afterAll(async () => {
  await browser?.close();
  await rm(root, { recursive: true, force: true });
});

/** A trained project, with what the library in Node predicts for new samples. */
interface Predicted {
  folder: string;
  ensemble: Ensemble;
  input: EnsembleInput;
  path: string;
  found: EnsemblePredictions;
  /** Outputs by the names that all ways give them. */
  expected: ways.Answers;
}

async function trainAndPredict(trial: TrialProject): Promise<Predicted> {
  const { name, config, calibration } = trial;
  const own = join(root, name);
  await mkdir(own);
  const project = (await trial.prepare?.(own)) ?? name;
  const { record, folder } = await train(hub(), project, { members: 2, membersPerDevice: 2, maxEpochs: 1, ...config });
  expect(record).toMatchObject({ status: 'finished', error: null });
  if (calibration !== undefined) {
    const request = { ...usualRequest, method: calibration };
    await calibrateRun(folder, record, { set: 'ensemble-best', split: 'validation', request, corruptions: false });
  }
  const { input, path } = await trial.newSamples(own, record);
  // Registers the layers that the project defines.
  if (trial.prepare === undefined) await import(join(projectFolder(name), 'project.ts'));
  const ensemble = await openEnsemble(folder);
  const found = await ensemble.predict(input);
  return { folder, ensemble, input, path, found, expected: ways.answersOf(allTensors(found, ensemble.description)) };
}

/** Expects the same outputs: numbers within 1e-5, relative to those above 1. */
function expectSame(found: ways.Answers, expected: ways.Answers): void {
  expect(Object.keys(found).sort()).toEqual(Object.keys(expected).sort());
  for (const [name, { shape, values }] of Object.entries(found)) {
    expect([name, [...shape]]).toEqual([name, [...expected[name].shape]]);
    expectClose(name, values, expected[name].values);
  }
}

function expectClose(name: string, found: ArrayLike<unknown>, expected: ArrayLike<unknown>): void {
  expect([name, found.length]).toEqual([name, expected.length]);
  if (typeof expected[0] === 'string') expect([name, Array.from(found)]).toEqual([name, Array.from(expected)]);
  else expect(largestError(Array.from(found, Number), Array.from(expected, Number)), name).toBeLessThan(1e-5);
}

/** Outputs that programs without Tutti have. */
const ofGraph = (all: ways.Answers): ways.Answers =>
  Object.fromEntries(
    Object.entries(all).filter(([name]) =>
      (outputNames as readonly string[]).includes(name.slice(name.indexOf('/') + 1)),
    ),
  );

async function expectPredictedFile({ folder, path, ensemble, found }: Predicted): Promise<void> {
  const output = join(folder, 'ways.jsonl');
  await predictRun({ folder, input: path, output, format: 'jsonl', withMembers: true });
  const lines = (await readFile(output, 'utf8')).trimEnd().split('\n');
  const written = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  const target = ensemble.preprocessing?.target;
  const targets = target?.kind === 'values' ? target.columns : undefined;
  const columns = predictionColumns(found, ensemble.description, { targets, withMembers: true });
  const notOutputs = ['row', 'file', 'sample', 'position', 'warnings'];
  const names = Object.keys(written[0]).filter((name) => !notOutputs.includes(name));
  expect(names).toEqual(columns.map(({ name }) => name));
  for (const { name, values } of columns)
    expectClose(
      name,
      written.map((row) => row[name]),
      values,
    );
}

async function expectSameInBrowser({ folder, input, found }: Predicted): Promise<void> {
  assert(browser !== null);
  expectSameParts('found', await browser.predict(folder, input), found);
}

/** Walks through predictions, whose arrays became plain ones. */
function expectSameParts(name: string, found: unknown, expected: unknown): void {
  if (ArrayBuffer.isView(expected)) return expectClose(name, found as number[], expected as Float64Array);
  if (expected === null || typeof expected !== 'object') return expect([name, found]).toEqual([name, expected]);
  expect(Object.keys(found as object)).toEqual(Object.keys(expected));
  for (const [key, own] of Object.entries(expected)) {
    expectSameParts(`${name}.${key}`, (found as Record<string, unknown>)[key], own);
  }
}

/** Keeps the files for Python, which starts once for all projects. */
const forPython: { name: string; folder: string; expected: ways.Answers }[] = [];

async function expectSameByOnnx({ ensemble, input, expected }: Predicted, folder: string): Promise<void> {
  const file = ways.onnxFile(ensemble);
  expectSame(await ways.byOnnx(ensemble, input, file), ofGraph(expected));
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'ensemble.onnx'), file);
  await writeFile(join(folder, 'onnx.json'), JSON.stringify(ways.onnxInputs(ensemble, input)));
}

async function writeForPytorch({ ensemble, input }: Predicted, folder: string): Promise<void> {
  await ways.writePytorch(folder, ensemble);
  await writeFile(join(folder, 'pytorch.json'), JSON.stringify(ways.preparedInputs(ensemble, input)));
}

async function requireRefused(what: string, attempt: () => Promise<void>, reason: string): Promise<void> {
  const message = await attempt().then(() => 'nothing', messageOf);
  assert(message.includes(reason), `${what} must be refused with "${reason}", but it says: ${message}`);
}

const table = guideTable();

describe(`new samples of every trial project${notRun(chromium === null ? 'Chromium is not installed, so without a browser' : null)}`, () => {
  it.each(trialProjects)('$name: the same in every way', async (project) => {
    const { name } = project;
    const row = table.get(name) ?? assert.fail(`The guide has no line for ${name}.`);
    const run = await trainAndPredict(project);
    const files = join(root, name, 'python');
    const { folder, ensemble, input, expected } = run;
    const tries: Record<keyof typeof row, () => Promise<void>> = {
      predict: () => expectPredictedFile(run),
      browser: () => expectSameInBrowser(run),
      onnx: () => expectSameByOnnx(run, files),
      pytorch: () => writeForPytorch(run, files),
      serve: async () => expectSame(await ways.byServer(folder, ensemble, input, Object.keys(expected)), expected),
    };
    for (const [way, attempt] of Object.entries(tries)) {
      if (way === 'browser' && browser === null) continue;
      const cell = row[way as keyof typeof row];
      if (cell === 'yes') await attempt();
      else await requireRefused(`${name} by ${way}`, attempt, cell.replace('refused: ', ''));
    }
    forPython.push({ name, folder: files, expected: ofGraph(expected) });
    ensemble.dispose();
  });

  it('are all that the guide lists', () => {
    expect([...table.keys()]).toEqual(trialProjects.map(({ name }) => name));
  });

  it.skipIf(noOnnx !== null)(
    `are predicted the same in Python, by ONNX Runtime and by PyTorch${notRun(noOnnx)}`,
    () => {
      const script = join(import.meta.dirname, 'predict.py');
      const python = process.env.TUTTI_PYTHON ?? 'python3';
      const output = execFileSync(python, [script, ...forPython.map(({ folder }) => folder)], {
        encoding: 'utf8',
        maxBuffer: 2 ** 26,
      });
      const lines = output
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, ways.Answers>);
      for (const [i, { name, expected }] of forPython.entries()) {
        const row = table.get(name);
        const given = (['onnx', 'pytorch'] as const).filter((way) => row?.[way] === 'yes');
        expect([name, Object.keys(lines[i])]).toEqual([name, given]);
        for (const way of given) expectSame(lines[i][way], expected);
      }
    },
  );
});
