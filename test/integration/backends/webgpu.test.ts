import { execFile } from 'node:child_process';
import { copyFile, mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Evaluations } from '../../../src-main/rpc/runs/evaluations.ts';
import { webgpuAdapterVariable, webgpuFolderVariable } from '../../../core/protocol/machine/devices.ts';
import { metricValues, resume, train, useHub } from '../harness.ts';
import { chromium, useSwiftShader, swiftShader, webgpuFolder } from '../../environment/webgpu.ts';
import { notRun } from '../../environment/reasons.ts';

const obstacle = await useSwiftShader();
const project = resolve(import.meta.dirname, '../../..', 'bench', 'projects', 'blobs');
const probe = resolve(import.meta.dirname, '../../..', 'workers', 'entries', 'try-backend.ts');
const { hub, home } = useHub();

/** The backend's description when it starts with this environment, or the reason why it does not start. */
function tryBackend(environment: NodeJS.ProcessEnv): Promise<string> {
  const env = { ...process.env, ...environment };
  return promisify(execFile)(process.execPath, [probe, 'webgpu'], { env }).then(({ stdout }) => stdout);
}

describe.skipIf(obstacle !== null)(`the webgpu backend${notRun(obstacle)}`, () => {
  const drivers = process.env.VK_ICD_FILENAMES;

  beforeAll(async () => {
    const folder = join(home(), 'native', 'webgpu');
    await mkdir(dirname(folder), { recursive: true });
    await symlink(webgpuFolder, folder);
  });

  afterEach(() => void (process.env.VK_ICD_FILENAMES = drivers));

  describe('trains two members', () => {
    const config = { maxSteps: 4, logEverySteps: 2, hyperparameters: { samples: 400, width: 8 } };
    let reference: string;
    beforeAll(async () => {
      const { record, folder } = await train(hub(), project, { ...config, devices: 'cpu', backend: 'cpu' });
      if (record.status !== 'finished') throw new Error(`The run on the cpu backend ended as ${record.status}.`);
      reference = folder;
    });

    function expectLossesOfReference(folder: string): void {
      for (const name of ['train/member_0_loss', 'train/member_1_loss', 'val/ens_nll']) {
        const expected = metricValues(reference, name).map(Number);
        const values = metricValues(folder, name).map(Number);
        expect(expected, name).toHaveLength(2);
        expect(values, name).toHaveLength(2);
        values.forEach((value, i) => expect(Math.abs(value / expected[i] - 1), name).toBeLessThan(1e-5));
      }
    }

    it('to the losses of the cpu backend, and evaluates and resumes them', async () => {
      const run = await train(hub(), project, { ...config, devices: 'webgpu-cpu:0' });
      expect(run.record).toMatchObject({ status: 'finished', config: { backend: 'webgpu' } });
      expect(JSON.stringify(run.updates)).toContain('SwiftShader driver 5.0.0, NOT a GPU: it computes on the CPU');
      expectLossesOfReference(run.folder);
      const members = [0, 1].map((rank) => ({ rank, name: 'final' }));
      const evaluated = await new Evaluations(hub()).evaluate(run.record.id, { members, split: 'validation' });
      const last = Number(metricValues(reference, 'val/ens_nll').at(-1));
      expect(Math.abs(evaluated.ensemble.nll / last - 1)).toBeLessThan(1e-5);
      expect(await resume(hub(), run.folder, { maxSteps: 6 })).toMatchObject({ status: 'finished', error: null });
    });

    it('as one computation', async () => {
      const run = await train(hub(), project, { ...config, devices: 'webgpu-cpu:0', membersPerDevice: 2 });
      expect(run.record).toMatchObject({ status: 'finished', plan: [{ stack: 0 }, { stack: 0 }] });
      expectLossesOfReference(run.folder);
    });
  });

  it('is chosen by auto for such a device, and refuses to be deterministic', async () => {
    await expect(train(hub(), project, { devices: 'webgpu-cpu:0', determinism: 'deterministic' })).rejects.toThrow(
      'With --backend webgpu results differ in their last bits from machine to machine.',
    );
  });

  it('uses a CPU only when it is named', async () => {
    const devices = await hub().devices();
    expect(devices.devices.map(({ id, name }) => [id, name])).toContainEqual(['webgpu-cpu:0', swiftShader]);
    await expect(train(hub(), project, { backend: 'webgpu' })).rejects.toThrow(
      'there is webgpu-cpu:0, to be named, as it computes on the CPU',
    );
    await expect(tryBackend({ [webgpuAdapterVariable]: undefined })).rejects.toThrow(
      /The only WebGPU adapter, "swiftshader-device-subzero-", computes on the CPU\..+--devices webgpu-cpu:0/,
    );
  });

  it('says how to set it up if it is missing', async () => {
    const nowhere = join(webgpuFolder, 'nothing');
    await expect(tryBackend({ [webgpuFolderVariable]: nowhere })).rejects.toThrow(
      `The webgpu backend is not set up in ${nowhere}. Run npx tutti setup --webgpu`,
    );
  });

  it('reports what is missing if there is no adapter', async () => {
    process.env.VK_ICD_FILENAMES = join(home(), 'no-driver.json');
    await expect(tryBackend({})).rejects.toThrow("Dawn finds no WebGPU adapter. Install the GPU's Vulkan driver");
    await expect(train(hub(), project, { backend: 'webgpu' })).rejects.toThrow(
      /^The backend webgpu finds no device that it computes on\..+WebGPU finds no GPU\. Install the GPU's Vulkan driver/,
    );
  });

  it('requires the named adapter', async () => {
    await expect(tryBackend({ [webgpuAdapterVariable]: 'Radeon' })).rejects.toThrow(
      `There is no WebGPU adapter "Radeon", only "${swiftShader}".`,
    );
    await expect(tryBackend({ [webgpuAdapterVariable]: 'SwiftShader' })).rejects.toThrow(
      'For the WebGPU adapter "SwiftShader" Dawn returns "swiftshader-device-subzero-"',
    );
  });

  it('uses one of two adapters with the same name, and explains it', async () => {
    const folder = join(home(), 'drivers');
    await mkdir(folder);
    // A copy, because the loader would merge two identical ones.
    for (const name of ['first', 'second']) {
      await copyFile(join(chromium, 'libvk_swiftshader.so'), join(folder, `lib${name}.so`));
      const driver = { file_format_version: '1.0.0', ICD: { library_path: `./lib${name}.so`, api_version: '1.0.5' } };
      await writeFile(join(folder, `${name}.json`), JSON.stringify(driver));
    }
    process.env.VK_ICD_FILENAMES = ['first', 'second'].map((name) => join(folder, `${name}.json`)).join(':');
    const reason =
      'it has the same name as another adapter, Dawn selects adapters by name, and no driver here can show it alone';
    const { devices } = await hub().devices();
    expect(devices.find(({ id }) => id === 'webgpu-cpu:0')?.unusable).toBeUndefined();
    expect(devices.find(({ id }) => id === 'webgpu-cpu:1')?.unusable).toBe(reason);
    await expect(train(hub(), project, { devices: 'webgpu-cpu:1' })).rejects.toThrow(
      `devices "webgpu-cpu:1": device 1 cannot be used: ${reason}; there is webgpu-cpu:0`,
    );
  });
});
