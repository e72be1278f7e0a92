import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { preprocessingSchema } from '../../core/preprocessing/schema.ts';
import { predictRun } from '../../src-main/predictions/predict-run.ts';
import { expectKeptAmong } from './expect-predicted.ts';
import { metricValues, projectFolder, train, useHub } from './harness.ts';
import { drawShapes } from './projects/shapes/draw-shapes.ts';

const { hub } = useHub();

let project = '';
beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'tutti-shapes-'));
  await cp(join(projectFolder('shapes'), 'project.ts'), join(project, 'project.ts'));
  await drawShapes(join(project, 'images'), 48, 1);
});
afterAll(() => rm(project, { recursive: true, force: true }));

describe('a folder of images with augmentation', () => {
  it('trains to the same values from memory and from disk', async () => {
    const values = await Promise.all(
      [false, true].map(async (onDisk) => {
        const { record, folder } = await train(hub(), project, { members: 2, seed: 3, hyperparameters: { onDisk } });
        expect(record.status).toBe('finished');
        const preprocessing = JSON.parse(await readFile(join(folder, 'preprocessing.json'), 'utf8')) as unknown;
        expect(preprocessingSchema.parse(preprocessing).steps).toEqual([
          { kind: 'images', height: 16, width: 16, channels: 3, fit: 'cover' },
        ]);
        const output = join(folder, 'predicted.jsonl');
        const input = join(project, 'images');
        const report = await predictRun({ folder, input, output, format: 'jsonl', set: 'final', withMembers: true });
        expect(report).toEqual({ rows: 96, set: 'final', warnings: [], first: [], inputs: [], outside: null });
        await expectKeptAmong(output, folder, 'validation', ['bars', 'circles']);
        return ['val/ens_nll', 'val/member_0_nll', 'val/member_1_nll'].map((name) => metricValues(folder, name));
      }),
    );
    expect(values[1]).toEqual(values[0]);
    const [ensemble, first, second] = values[0];
    expect(ensemble).toHaveLength(3);
    expect(Number(ensemble.at(-1))).toBeLessThan(Number(ensemble[0]));
    expect(first).not.toEqual(second);
  });
});
