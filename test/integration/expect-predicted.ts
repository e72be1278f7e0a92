import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'vitest';
import type { RunRecord } from '../../core/protocol/run/record.ts';
import { probabilitiesOf } from '../../core/metrics/index.ts';
import { decodeSafetensors } from '../../core/safetensors/safetensors.ts';
import { dataFolders } from '../../src-main/store/home.ts';
import type { Dataset, Splits } from '../../workers/data/index.ts';
import { openEnsemble } from '../../workers/index.ts';
import type { Project } from '../../workers/index.ts';

/** The data of a project, as the run loaded them. */
async function dataOf({ project, config }: RunRecord): Promise<Splits> {
  const module = (await import(pathToFileURL(join(project.folder, 'project.ts')).href)) as { default: Project };
  const hyperparameters = module.default.hyperparameters.parse(config.hyperparameters);
  return module.default.data({ hyperparameters, config, folders: dataFolders(), seed: config.seed });
}

/**
 * Expects that the opened ensemble predicts from raw values, as if they were new, what the members of the run predicted
 * for them while it trained.
 */
export async function expectPredictedAsTrained({
  folder,
  record,
}: {
  folder: string;
  record: RunRecord;
}): Promise<void> {
  const data = await dataOf(record);
  const [split, dataset] = data.test === undefined ? ['validation', data.validation] : ['test', data.test];
  const { features, extraInputs = {} } = dataset as Dataset;
  const ensemble = await openEnsemble(folder, { set: 'final' });
  try {
    const found = await ensemble.outputs({ values: features, extraInputs, shape: (dataset as Dataset).featureShape });
    const heads = [['', found] as const, ...Object.entries(found.further ?? {})];
    for (const [member, { rank }] of ensemble.description.members.entries()) {
      const path = join(folder, 'predictions', split, `rank-${rank}`, 'final.safetensors');
      const { tensors } = decodeSafetensors(await readFile(path));
      // Tensors of further outputs are named `<output>:<tensor>`.
      const predicted = heads.flatMap(([output, { samples, width, values }]) => {
        const kept = tensors.filter(({ name }) => (name.includes(':') ? name.split(':')[0] : '') === output);
        const size = samples * width;
        return kept.map(({ data }, i) => ({ kept: data, own: values[i].subarray(member * size, (member + 1) * size) }));
      });
      expect(predicted).toHaveLength(tensors.length);
      for (const { kept, own } of predicted) {
        expect(own.length).toBe(kept.length);
        const errors = own.map(
          (value, i) => Math.abs(value - Number(kept[i])) / Math.max(1, Math.abs(Number(kept[i]))),
        );
        expect(Math.max(...errors)).toBeLessThan(1e-5);
      }
    }
  } finally {
    ensemble.dispose();
  }
}

/**
 * Expects that the members' probabilities of a split, as the run kept them, are among the rows of a file of predictions
 * (JSON lines with those of each member), which has the samples of all splits.
 */
export async function expectKeptAmong(
  file: string,
  folder: string,
  split: 'validation' | 'test',
  classNames: readonly string[],
): Promise<void> {
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
  const rows = lines.map((line) => JSON.parse(line) as Record<string, number>);
  for (const rank of [0, 1]) {
    const path = join(folder, 'predictions', split, `rank-${rank}`, 'final.safetensors');
    const [{ data, shape }] = decodeSafetensors(await readFile(path)).tensors;
    const kept = probabilitiesOf(data as Float32Array, classNames.length);
    expect(shape[0]).toBeGreaterThan(0);
    for (let sample = 0; sample < shape[0]; sample++) {
      const distances = rows.map((row) =>
        Math.max(
          ...classNames.map((name, k) =>
            Math.abs(row[`member_${rank}_probability_${name}`] - kept[sample * classNames.length + k]),
          ),
        ),
      );
      expect(Math.min(...distances)).toBeLessThan(1e-5);
    }
  }
}
