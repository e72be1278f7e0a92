import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import sharp from 'sharp';
import { expect } from 'vitest';
import { predictionColumns } from '../../../core/ensemble/columns.ts';
import type { EnsemblePredictions, MemberOutputStack } from '../../../core/ensemble/predictions.ts';
import { allTensors } from '../../../core/ensemble/tensors.ts';
import { encodeSafetensors, type NamedTensor } from '../../../core/safetensors/safetensors.ts';
import { exportRun } from '../../../src-main/export/export-run.ts';
import type { Dataset } from '../../../workers/index.ts';
import type { Ensemble } from '../../../workers/inference/ensemble.ts';
import type { EnsembleInput } from '../../../workers/inference/inputs.ts';
import { predictFile } from '../../../workers/inference/predict-file.ts';
import { outputNames } from '../../../workers/onnx/outputs.ts';
import * as ways from '../ways/other-ways.ts';
import { countOf, type Kept } from './reference.ts';
import type { WrittenTable } from './draw-table.ts';

/** Samples that a run was evaluated on, and perhaps others, as somebody gives them to each way of predicting. */
export interface GivenSamples {
  input: EnsembleInput;
  /** The same as a file, or a folder of images. */
  path: string;
  /**
   * The texts of the targets of each sample, where it is not known which sample of the split it is; null: they are the
   * split's, in its order.
   */
  targets: string[][] | null;
}

/** The samples of a split in memory, as arrays in a file. */
export async function givenArrays(
  folder: string,
  { length, features, featureShape, extraInputs = {} }: Dataset,
): Promise<GivenSamples> {
  const values = features as Float32Array;
  const tensor = (name: string, shape: readonly number[], own: ArrayLike<number>): NamedTensor => {
    return { name, dtype: 'F32', shape: [length, ...shape], data: Float32Array.from(own) };
  };
  const others = Object.entries(extraInputs).map(([name, field]) => tensor(name, field.shape, field.values));
  const path = join(folder, 'samples.safetensors');
  await writeFile(path, encodeSafetensors([tensor('features', featureShape, values), ...others]));
  return { input: { values, shape: featureShape, extraInputs }, path, targets: null };
}

export const givenTable = ({ rows, path, targets }: WrittenTable): GivenSamples => ({ input: { rows }, path, targets });

/** Images of 6 × 6 pixels, a folder for each class, with values that follow from their numbers. */
export async function drawImages(folder: string, classNames: readonly string[], samples: number): Promise<void> {
  for (const [label, name] of classNames.entries())
    await mkdir(join(folder, name), { recursive: true }).then(() => label);
  for (let i = 0; i < samples; i++) {
    const raw = { width: 6, height: 6, channels: 3 as const };
    await sharp(imageBytes(i), { raw })
      .png()
      .toFile(join(folder, classNames[i % classNames.length], `${i}.png`));
  }
}

const imageBytes = (i: number): Buffer =>
  Buffer.from(Uint8Array.from({ length: 108 }, (_, at) => (37 * i + 11 * at * (1 + (i % 5))) % 256));

/** The folder of images, with the bytes in the order in which its predictions come. */
export function givenImages(folder: string, files: readonly string[]): GivenSamples {
  const parts = files.map((file) => file.split('/'));
  const bytes = parts.map(([, file]) => imageBytes(Number.parseInt(file)));
  return {
    input: { values: new Uint8Array(Buffer.concat(bytes)), shape: [6, 6, 3] },
    path: folder,
    targets: parts.map(([name]) => [name]),
  };
}

/**
 * Finds each sample of the split among the given ones: the one with its target for which all members give what they
 * gave while the run evaluated them, to 1e-5.
 * @returns for each of the N predictions of the split, the index among those of the given samples
 */
export function matchRows(
  kept: Kept,
  stack: MemberOutputStack,
  { targets }: GivenSamples,
  scale: { mean: number; std: number }[],
): number[] {
  const { outputs, width, classNames } = kept;
  const count = countOf(kept);
  const size = stack.samples * width;
  const distance = (own: number, other: number): number =>
    Math.max(
      ...outputs.flatMap((members, output) =>
        members.flatMap((values, member) =>
          Array.from({ length: width }, (_, k) => {
            const right = values[own * width + k];
            const found = stack.values[output][member * size + other * width + k];
            return Math.abs(found - right) / Math.max(1, Math.abs(right));
          }),
        ),
      ),
    );
  if (targets === null) {
    expect(stack.samples).toBe(count);
    return Array.from({ length: count }, (_, own) => {
      expect(distance(own, own), `sample ${own} of the split`).toBeLessThan(1e-5);
      return own;
    });
  }
  const free = new Set(targets.map((_, i) => i));
  const hasTarget = (own: number, other: number): boolean =>
    targets[other].every((text, column) => {
      const target = kept.targets[own * targets[other].length + column];
      if (classNames !== null) return classNames[target] === text;
      const { mean, std } = scale[column];
      return Math.abs((Number(text) - mean) / std - target) < 1e-4 * Math.max(1, Math.abs(target));
    });
  return Array.from({ length: count }, (_, own) => {
    const [best] = [...free]
      .filter((other) => hasTarget(own, other))
      .sort((a, b) => distance(own, a) - distance(own, b));
    expect(best, `a given sample with the target of sample ${own} of the split`).toBeDefined();
    expect(distance(own, best), `the members' answers for sample ${own} of the split`).toBeLessThan(1e-5);
    free.delete(best);
    return best;
  });
}

/** The unit of each target: mean and deviation that training took out. */
export function scaleOf({ preprocessing }: Ensemble, width: number): { mean: number; std: number }[] {
  const target = preprocessing?.target;
  return Array.from({ length: width }, (_, k) =>
    target?.kind === 'values'
      ? { mean: target.mean[k % target.mean.length], std: target.std[k % target.std.length] }
      : { mean: 0, std: 1 },
  );
}

/** Rounding of the numbers of a way, relative to their size. */
const roundings = { float64: 1e-13, float32: 2 ** -22, text: 1e-8 };

/** Outputs in the unit of the targets, beside those in parts of it. */
const places = new Set(['mean', 'lower', 'upper', 'members']);

/**
 * Expects outputs to be equal to 1e-5 of the target's deviation, and beside that to the rounding of the way's numbers.
 */
export function expectSame(
  way: string,
  found: ways.Answers,
  expected: ways.Answers,
  { scale, rounding }: { scale: { mean: number; std: number }[]; rounding: keyof typeof roundings },
): void {
  expect([way, Object.keys(found).sort()]).toEqual([way, Object.keys(expected).sort()]);
  for (const [name, { shape, values }] of Object.entries(found)) {
    const right = expected[name];
    expect([way, name, [...shape]]).toEqual([way, name, [...right.shape]]);
    const wrong = Array.from(values, (value, i) => [value, right.values[i]] as const).find(([value, own], i) => {
      if (typeof own === 'string') return value !== own;
      const [a, b] = [Number(value), Number(own)];
      // NaN, and intervals without an end.
      if (Object.is(a, b)) return false;
      const { mean, std } = scale[i % scale.length];
      // Further outputs have the unit of their own targets.
      const unit = name.includes('/') ? 1 : name === 'member_variances' ? std ** 2 : std;
      const size = Math.abs(b - (places.has(name) ? mean : 0)) / unit;
      return !(Math.abs(a - b) <= 1e-5 * Math.max(1, size) * unit + roundings[rounding] * Math.abs(b));
    });
    expect(wrong, `${name} by ${way} (found, expected)`).toBeUndefined();
  }
}

/** Outputs that programs without Tutti have. */
export const ofGraph = (all: ways.Answers): ways.Answers =>
  Object.fromEntries(
    Object.entries(all).filter(([name]) =>
      (outputNames as readonly string[]).includes(name.slice(name.indexOf('/') + 1)),
    ),
  );

export const answersOf = (found: EnsemblePredictions, { description }: Ensemble): ways.Answers =>
  ways.answersOf(allTensors(found, description));

/**
 * Expects that a file of predictions has the columns of what was predicted in Node, in both formats.
 * @returns the names of images
 */
export async function expectSameFile(
  folder: string,
  ensemble: Ensemble,
  { path }: GivenSamples,
  found: EnsemblePredictions,
): Promise<void> {
  const target = ensemble.preprocessing?.target;
  const targets = target?.kind === 'values' ? target.columns : undefined;
  const columns = predictionColumns(found, ensemble.description, { targets, withMembers: true });
  const isPlace = (name: string): boolean => ['row', 'file', 'sample', 'position', 'warnings'].includes(name);
  const [jsonl, csv] = [join(folder, 'predicted.jsonl'), join(folder, 'predicted.csv')];
  const how = { input: path, withMembers: true };
  await predictFile(ensemble, { ...how, output: jsonl, format: 'jsonl' });
  let first: string[] = [];
  const firstBlock = async (own: { name: string }[]): Promise<void> => {
    first = own.map(({ name }) => name);
  };
  await predictFile(ensemble, { ...how, output: csv, format: 'csv', firstBlock });
  const lines = (await readFile(jsonl, 'utf8')).trimEnd().split('\n');
  const records: Record<string, Record<string, unknown>[]> = {
    jsonl: lines.map((line) => JSON.parse(line) as Record<string, unknown>),
    csv: parse(await readFile(csv, 'utf8'), { columns: true }) as Record<string, unknown>[],
  };
  expect(Object.keys(records.csv[0])).toEqual(first);
  for (const [way, rows] of Object.entries(records)) {
    expect([way, Object.keys(rows[0]).filter((name) => !isPlace(name))]).toEqual([
      way,
      columns.map(({ name }) => name),
    ]);
    const asAnswers = (valuesOf: (own: (typeof columns)[number]) => ArrayLike<unknown>): ways.Answers =>
      Object.fromEntries(
        columns.map((own): [string, ways.Answers[string]] => {
          const values = Array.from(valuesOf(own), (value) => (own.type === 'text' ? String(value) : Number(value)));
          return [own.name, { shape: [values.length], values }];
        }),
      );
    const written = asAnswers(({ name, type }) =>
      rows.map((row) => (type === 'boolean' && typeof row[name] === 'string' ? row[name] === 'true' : row[name])),
    );
    // Each column has its own place and unit, which here only 9 digits tell apart.
    expectSame(
      way,
      written,
      asAnswers(({ values }) => values),
      { scale: [{ mean: 0, std: 1 }], rounding: 'text' },
    );
  }
}

/** The names of the images of a folder, in the order of their predictions. */
export async function imagesInOrder(folder: string, ensemble: Ensemble, path: string): Promise<string[]> {
  const output = join(folder, 'images.jsonl');
  await predictFile(ensemble, { input: path, output, format: 'jsonl', withMembers: false });
  return (await readFile(output, 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { file: string }).file);
}

/** Exports a run for browsers. */
export async function exportForBrowsers(run: string, to: string): Promise<void> {
  await exportRun(run, { to, zip: false, formats: ['ensemble'], set: 'final' });
}
