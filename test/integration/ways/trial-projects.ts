import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { PostprocessingRequest } from '../../../core/postprocessing/request.ts';
import type { RunConfigInput } from '../../../core/protocol/run/config.ts';
import type { RunRecord } from '../../../core/protocol/run/record.ts';
import { encodeSafetensors, type NamedTensor } from '../../../core/safetensors/safetensors.ts';
import { dataFolders } from '../../../src-main/store/home.ts';
import { Generator, type Project } from '../../../workers/index.ts';
import { readImages } from '../../../workers/data/images/decode.ts';
import type { EnsembleInput } from '../../../workers/inference/inputs.ts';
import { projectFolder } from '../harness.ts';
import { drawShapes } from '../projects/shapes/draw-shapes.ts';

/** Samples that no training saw. */
export interface NewSamples {
  /** For `openEnsemble`. */
  input: EnsembleInput;
  /** The same, as a file or folder for `tutti predict`. */
  path: string;
}

/** A project that is trained and then predicted in every way. */
export interface TrialProject {
  /** Its folder among the tests' projects, as the table of the guide names it. */
  name: string;
  config?: RunConfigInput;
  /** What is fitted on its validation split before it is predicted; absent: nothing. */
  calibration?: PostprocessingRequest['method'];
  /** Makes a copy of the project with its data; absent: it has all. @returns the copy */
  prepare?(folder: string): Promise<string>;
  newSamples(folder: string, record: RunRecord): Promise<NewSamples>;
}

type Values = Extract<EnsembleInput, { values: unknown }>;

const random = new Generator(7, 'new samples');
const uniform = (count: number): Float32Array => Float32Array.from({ length: count }, () => 2 * random.uniform() - 1);

/** Raw values as a table of numbers without names that matter. */
async function asTable(folder: string, values: Float32Array, width: number): Promise<NewSamples> {
  const path = join(folder, 'new.csv');
  const names = Array.from({ length: width }, (_, i) => `x${i}`).join();
  const rows = Array.from({ length: values.length / width }, (_, n) =>
    values.subarray(n * width, (n + 1) * width).join(),
  );
  await writeFile(path, `${names}\n${rows.join('\n')}\n`);
  return { input: { values }, path };
}

/** Raw values as arrays: `features`, and others by the names of the model's inputs. */
async function asArrays(folder: string, input: Values, shape: readonly number[], samples: number): Promise<NewSamples> {
  const path = join(folder, 'new.safetensors');
  const tensor = (name: string, own: readonly number[], values: ArrayLike<number>): NamedTensor => ({
    name,
    dtype: 'F32',
    shape: [samples, ...own],
    data: Float32Array.from(values),
  });
  const others = Object.entries(input.extraInputs ?? {}).map(([name, field]) =>
    tensor(name, field.shape, field.values),
  );
  await writeFile(path, encodeSafetensors([tensor('features', shape, input.values), ...others]));
  return { input, path };
}

const rows = [
  { fare: 7.25, age: 22, port: 'S', alone: true, boarded: '1912-04-10' },
  { fare: 71.3, age: null, port: 'unknown', alone: false, boarded: '1912-04-11' },
  { fare: 26, age: 4, port: null, alone: null, boarded: '1912-04-10' },
];

const reviews = ['the film was wonderful.', 'the film was not wonderful.', 'this new book is great indeed!'];

/** Texts as ids, as the project's own code makes them for `tutti predict`. */
async function reviewIds({ config }: RunRecord): Promise<EnsembleInput> {
  const path = join(projectFolder('reviews'), 'project.ts');
  const { default: project } = (await import(pathToFileURL(path).href)) as { default: Project };
  const hyperparameters = project.hyperparameters.parse(config.hyperparameters);
  const table = { name: 'reviews', length: 3, columns: [{ name: 'text', type: 'text' as const, values: reviews }] };
  const found = await project.inputs?.({ table, hyperparameters, config, seed: config.seed, folders: dataFolders() });
  if (found === undefined) throw new Error('The project turns texts into ids.');
  return found;
}

export const trialProjects: readonly TrialProject[] = [
  {
    name: 'passengers',
    async newSamples(folder) {
      const path = join(folder, 'new.jsonl');
      await writeFile(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
      return { input: { rows }, path };
    },
  },
  {
    name: 'shapes',
    async prepare(folder) {
      const project = join(folder, 'shapes');
      await cp(join(projectFolder('shapes'), 'project.ts'), join(project, 'project.ts'));
      await drawShapes(join(project, 'images'), 12, 1);
      return project;
    },
    async newSamples(folder) {
      const path = join(folder, 'images');
      await drawShapes(path, 2, 9);
      const files = ['bars/0.png', 'bars/1.jpg', 'circles/0.png', 'circles/1.jpg'].map((file) => join(path, file));
      const values = await readImages(files, { size: [16, 16], channels: 3, fit: 'cover' });
      return { input: { values, shape: [16, 16, 3] }, path };
    },
  },
  {
    name: 'sunspots',
    newSamples(folder) {
      const values = Float32Array.from({ length: 90 }, (_, i) => 50 + 40 * Math.sin(i / 1.7));
      return asArrays(folder, { values }, [30, 1], 3);
    },
  },
  {
    name: 'reviews',
    config: { hyperparameters: { samples: 200 } },
    async newSamples(folder, record) {
      const path = join(folder, 'new.txt');
      await writeFile(path, `${reviews.join('\n')}\n`);
      return { input: await reviewIds(record), path };
    },
  },
  {
    name: 'reversed',
    newSamples(folder) {
      const previous = { shape: [4], values: Float32Array.of(5, 2, 1, 0, 5, 4, 0, 0) };
      return asArrays(folder, { values: Float32Array.of(1, 2, 3, 0, 4, 4, 0, 0), extraInputs: { previous } }, [4], 2);
    },
  },
  { name: 'labels', newSamples: (folder) => asTable(folder, uniform(6), 2) },
  { name: 'counts', newSamples: (folder) => asTable(folder, uniform(3), 1) },
  { name: 'grades', calibration: 'isotonic', newSamples: (folder) => asTable(folder, uniform(3), 1) },
  { name: 'quantiles', newSamples: (folder) => asTable(folder, uniform(3), 1) },
  { name: 'heads', newSamples: (folder) => asTable(folder, uniform(6), 2) },
  { name: 'transfer', calibration: 'joint-temperatures', newSamples: (folder) => asTable(folder, uniform(6), 2) },
  {
    name: 'sensors',
    newSamples(folder) {
      const sensor = { shape: [1], values: Float32Array.of(0, 1, 1) };
      return asArrays(folder, { values: uniform(3), extraInputs: { sensor } }, [1], 3);
    },
  },
  {
    name: 'stream',
    config: { hyperparameters: { samples: 64 } },
    newSamples: (folder) => asArrays(folder, { values: uniform(128 * 128) }, [128, 128, 1], 1),
  },
];
