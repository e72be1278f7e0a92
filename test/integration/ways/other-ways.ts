import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { type Browser, chromium as playwright, type Page } from '@playwright/test';
import type { EnsemblePredictions } from '../../../core/ensemble/predictions.ts';
import type { Tensor } from '../../../core/ensemble/tensors.ts';
import { bundleForBrowsers } from '../../../scripts/package/bundle.ts';
import { exportRun } from '../../../src-main/export/export-run.ts';
import { Batcher } from '../../../src-main/serving/batcher.ts';
import { listen } from '../../../src-main/server/http-server.ts';
import { createInferenceServer } from '../../../src-main/serving/inference-server.ts';
import { serveEnsemble } from '../../../src-main/serving/serve-ensemble.ts';
import type { Ensemble } from '../../../workers/inference/ensemble.ts';
import { type EnsembleInput, prepareInput, type Row } from '../../../workers/inference/inputs.ts';
import { TensorEnsemble } from '../../../workers/inference/served.ts';
import { OnnxEnsembleWriter } from '../../../workers/onnx/ensemble-file.ts';
import { PytorchEnsembleWriter } from '../../../workers/pytorch/ensemble-files.ts';
import { type OnnxInputs, runOnnx } from '../../unit/onnx/run-onnx.ts';

/** Outputs by name, row-major. */
export type Answers = Record<string, { shape: readonly number[]; values: ArrayLike<number | string | boolean> }>;

/** An input, before a way gives it the form that it takes. A missing value is null. */
interface NamedInput {
  name: string;
  shape: readonly number[];
  values: readonly (number | string | boolean | null)[];
}

/** The inputs of an ensemble under their names: columns of a table, or values before what the run fitted. */
function namedInputs(ensemble: Ensemble, input: EnsembleInput): NamedInput[] {
  const { inputs } = new TensorEnsemble(ensemble);
  if ('rows' in input) {
    return inputs.map(({ name }) => ({
      name,
      shape: [input.rows.length, 1],
      values: input.rows.map((row) => cellOf(row[name])),
    }));
  }
  if ('table' in input) throw new Error('A trial project has rows or values.');
  const { samples, shape, extraInputs } = preparedInput(ensemble, input);
  const features = 'values' in input ? input.values : input.prepared;
  return inputs.map(({ name }) => {
    const own = Object.hasOwn(extraInputs, name) ? extraInputs[name] : { shape, values: features };
    return { name, shape: [samples, ...own.shape], values: [...own.values] };
  });
}

function cellOf(cell: Row[string]): NamedInput['values'][number] {
  if (cell instanceof Date || typeof cell === 'bigint') throw new Error('Cells of trial projects are plain values.');
  return cell ?? null;
}

/** The inputs as the models take them. */
function preparedInput({ models: [model], preprocessing }: Ensemble, input: EnsembleInput) {
  const extra = 'extraInputs' in input ? Object.keys(input.extraInputs ?? {}) : [];
  const main = model.inputs.findIndex((_, i) => model.inputs.length === 1 || !extra.includes(model.inputNames[i]));
  return prepareInput(input, preprocessing, model.inputs[main].shape.slice(1));
}

/** As models of PyTorch take them, in their order. */
export function preparedInputs(ensemble: Ensemble, input: EnsembleInput): NamedInput[] {
  const { features, samples, shape, extraInputs } = preparedInput(ensemble, input);
  const [model] = ensemble.models;
  return model.inputs.map((_, i) => {
    const name = model.inputs.length === 1 ? 'x' : model.inputNames[i];
    const own = Object.hasOwn(extraInputs, name) ? extraInputs[name] : { shape, values: features };
    return { name, shape: [samples, ...own.shape], values: [...own.values] };
  });
}

const dayMs = 86_400_000;

/** As the ONNX file takes them: no booleans and dates, and NaN or an empty text for what is missing. */
export function onnxInputs(ensemble: Ensemble, input: EnsembleInput): NamedInput[] {
  const columns = ensemble.preprocessing?.steps.flatMap((step) => (step.kind === 'table' ? step.columns : [])) ?? [];
  return namedInputs(ensemble, input).map(({ name, shape, values }) => {
    const isText = columns.some((column) => column.name === name && column.type === 'category');
    const own = values.map((value) => {
      if (isText) return value ?? '';
      return typeof value === 'string' ? Date.parse(value) / dayMs : Number(value ?? NaN);
    });
    return { name, shape, values: own };
  });
}

export function onnxFile({ description, preprocessing, postprocessing, models }: Ensemble): Uint8Array {
  const writer = new OnnxEnsembleWriter(description, preprocessing, postprocessing?.calibration ?? null);
  for (const model of models) writer.add(model);
  return writer.finish('1.2.3')[0].content as Uint8Array;
}

/** Writes `model.py` and the weights into a folder. */
export async function writePytorch(folder: string, ensemble: Ensemble): Promise<void> {
  const { description, preprocessing, postprocessing, models } = ensemble;
  const writer = new PytorchEnsembleWriter(description, preprocessing, postprocessing?.calibration ?? null);
  for (const model of models) writer.add(model);
  const files = writer.finish('1.2.3');
  await mkdir(folder, { recursive: true });
  for (const { path, content } of files) await writeFile(join(folder, path), content);
}

/** ONNX Runtime in Node. */
export async function byOnnx(ensemble: Ensemble, input: EnsembleInput, file: Uint8Array): Promise<Answers> {
  const inputs = onnxInputs(ensemble, input);
  const found = await runOnnx(file, (types) =>
    Object.fromEntries(
      inputs.map(({ name, shape, values }) => [name, { shape, data: dataOf(types.get(name) ?? '', values) }]),
    ),
  );
  return Object.fromEntries(Object.entries(found).map(([name, { shape, data }]) => [name, { shape, values: data }]));
}

function dataOf(type: string, values: NamedInput['values']): OnnxInputs[string]['data'] {
  const numbers = values as number[];
  switch (type) {
    case 'string':
      return values as string[];
    case 'float64':
      return Float64Array.from(numbers);
    case 'uint8':
      return Uint8Array.from(numbers);
    case 'int64':
      return BigInt64Array.from(numbers, BigInt);
    default:
      return Float32Array.from(numbers);
  }
}

/** What a client sends to `tutti serve`. */
function requestFor(ensemble: Ensemble, input: EnsembleInput, outputs: readonly string[]): string {
  const { inputs } = new TensorEnsemble(ensemble);
  const tensors = namedInputs(ensemble, input).map(({ name, shape, values }, i) => ({
    name,
    shape,
    datatype: inputs[i].datatype,
    data: values,
  }));
  return JSON.stringify({ inputs: tensors, outputs: outputs.map((name) => ({ name })) });
}

function answersIn(answer: unknown): Answers {
  const found = answer as { error?: string; outputs: { name: string; shape: number[]; data: [] }[] };
  if (found.error !== undefined) throw new Error(found.error);
  return Object.fromEntries(found.outputs.map(({ name, shape, data }) => [name, { shape, values: data }]));
}

const servingLimits = { maxBatch: 8, maxDelayMs: 0, maxQueue: 8, maxBodyBytes: 2 ** 24, maxSamples: 100 };

/** `tutti serve`, with the process that holds the models. */
export async function byServer(
  folder: string,
  ensemble: Ensemble,
  input: EnsembleInput,
  outputs: readonly string[],
): Promise<Answers> {
  const how = { ...servingLimits, inputsTimeoutMs: 60_000, onNotice: () => undefined };
  const server = await serveEnsemble({ folder, host: '127.0.0.1', port: 0, ...how });
  try {
    const body = requestFor(ensemble, input, outputs);
    return answersIn(await (await fetch(`${server.url}/infer`, { method: 'POST', body })).json());
  } finally {
    await server.close();
  }
}

/** What `tutti serve` answers, without processes and sockets. */
export async function byServedModel(
  ensemble: Ensemble,
  input: EnsembleInput,
  outputs: readonly string[],
): Promise<Answers> {
  const served = new TensorEnsemble(ensemble);
  const described = await served.describe([]);
  const server = createInferenceServer({
    ...servingLimits,
    ensemble: { ...described, name: 'run' },
    version: '0',
    batcher: new Batcher((request) => served.predict(request), servingLimits),
    isReady: () => true,
    token: null,
    isOwnHost: () => true,
    onError: (error) => {
      throw error;
    },
  });
  const body = requestFor(ensemble, input, outputs);
  const port = await listen(server, 0, '127.0.0.1', '');
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/v2/models/run/infer`, { method: 'POST', body });
    return answersIn(await answer.json());
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** Chromium with a page that has the bundle for browsers, and a server for the page and for exported ensembles. */
export class BrowserWay {
  readonly #browser: Browser;
  readonly #page: Page;
  readonly #server: Server;
  readonly #folder: string;
  #exports = 0;

  private constructor(folder: string, server: Server, browser: Browser, page: Page) {
    this.#folder = folder;
    this.#server = server;
    this.#browser = browser;
    this.#page = page;
  }

  static async open(executablePath: string, folder: string): Promise<BrowserWay> {
    await bundleForBrowsers(join(import.meta.dirname, '../../..'), folder);
    const server = createServer((request, response) => {
      const path = (request.url ?? '/').slice(1);
      const type = path.endsWith('.js') ? 'text/javascript' : path === '' ? 'text/html' : 'application/octet-stream';
      const content = path === '' ? Promise.resolve('<!doctype html>') : readFile(join(folder, path));
      content.then(
        (bytes) => response.writeHead(200, { 'content-type': type }).end(bytes),
        () => response.writeHead(404).end(),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const browser = await playwright.launch({ executablePath });
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`);
    return new BrowserWay(folder, server, browser, page);
  }

  /** The predictions of the exported ensemble, with arrays in place of typed ones. */
  async predict(run: string, input: EnsembleInput): Promise<EnsemblePredictions> {
    const name = `model-${this.#exports++}`;
    await exportRun(run, { to: join(this.#folder, name), zip: false, formats: ['ensemble'] });
    // As text: the test's own loader would change an import in a function.
    return this.#page.evaluate<EnsemblePredictions>(
      `(async () => {
        const { openEnsemble } = await import('/browser.js');
        const ensemble = await openEnsemble('/${name}');
        const found = await ensemble.predict(${codeOf(input)});
        ensemble.dispose();
        const plain = (value) => ArrayBuffer.isView(value) ? [...value]
          : value !== null && typeof value === 'object'
            ? Object.fromEntries(Object.entries(value).map(([key, own]) => [key, plain(own)])) : value;
        return plain(found);
      })()`,
    );
  }

  async close(): Promise<void> {
    await this.#browser.close();
    this.#server.close();
  }
}

/** A value as code of JavaScript, with its typed arrays. */
function codeOf(value: unknown): string {
  if (ArrayBuffer.isView(value)) {
    return `${value.constructor.name}.of(${[...(value as Float32Array)].join()})`;
  }
  if (Array.isArray(value)) return `[${value.map(codeOf).join()}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'undefined';
  return `({${Object.entries(value)
    .map(([key, own]) => `${JSON.stringify(key)}: ${codeOf(own)}`)
    .join()}})`;
}

/** Tensors of a prediction as answers. */
export function answersOf(tensors: readonly Tensor[]): Answers {
  return Object.fromEntries(
    tensors.map(({ name, shape, values }) => [name, { shape, values: values as ArrayLike<number | string> }]),
  );
}
