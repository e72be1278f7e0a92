import { execFile } from 'node:child_process';
import { mkdir, symlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { nativeFolderVariable } from '../../../core/protocol/machine/devices.ts';
import { metricValues, train, useHub } from '../harness.ts';
import { nativeFolder, useTensorflow } from '../../environment/tensorflow.ts';
import { notRun } from '../../environment/reasons.ts';

const obstacle = useTensorflow();
const project = resolve(import.meta.dirname, '../../..', 'bench', 'projects', 'blobs');
const probe = resolve(import.meta.dirname, '../../..', 'workers', 'entries', 'try-backend.ts');

describe.skipIf(obstacle !== null)(`the tensorflow backend${notRun(obstacle)}`, () => {
  const { hub, home } = useHub();

  beforeAll(async () => {
    const folder = join(home(), 'native', 'tensorflow');
    await mkdir(dirname(folder), { recursive: true });
    await symlink(nativeFolder, folder);
  });

  it('trains two members to the losses of the wasm backend', async () => {
    const config = { devices: 'cpu', maxSteps: 20, logEverySteps: 5, hyperparameters: { samples: 2000, width: 32 } };
    const own = await train(hub(), project, { ...config, backend: 'wasm' });
    const native = await train(hub(), project, { ...config, backend: 'tensorflow' });
    expect(native.record.status).toBe('finished');
    expect(JSON.stringify(native.updates)).toContain('TensorFlow 2.21.0 (one CPU core)');
    for (const name of ['train/member_0_loss', 'train/member_1_loss', 'val/ens_nll']) {
      const expected = metricValues(own.folder, name).map(Number);
      const values = metricValues(native.folder, name).map(Number);
      expect(values.length).toBe(expected.length);
      expect(values.length).toBeGreaterThan(0);
      values.forEach((value, i) => expect(value).toBeCloseTo(expected[i], 4));
    }
  });

  it('reports that no GPU is used, why, and the remedy', async () => {
    const env = { ...process.env, [nativeFolderVariable]: nativeFolder, CUDA_VISIBLE_DEVICES: '0' };
    const { stdout } = await promisify(execFile)(process.execPath, [probe, 'tensorflow'], { env });
    expect(stdout).toContain('NOT the GPU: this build has no CUDA; run npx tutti setup --gpu');
  });

  it('says how to set it up if it is missing', async () => {
    const env = { ...process.env, [nativeFolderVariable]: join(nativeFolder, 'nothing') };
    await expect(promisify(execFile)(process.execPath, [probe, 'tensorflow'], { env })).rejects.toThrow(
      'is not set up in ' + join(nativeFolder, 'nothing') + '. Run npx tutti setup',
    );
  });
});
