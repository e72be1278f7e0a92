import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Device } from '../../../core/protocol/machine/devices.ts';
import {
  nativeEnvironment,
  readNativeBuild,
  readWebgpuBuild,
  usableKinds,
} from '../../../src-main/processes/native-build.ts';
import { machineAdapters } from '../../../src-main/devices/detect.ts';
import { describeUse, isUsable } from '../../../src-main/health/checks.ts';
import { homePaths } from '../../../src-main/store/home.ts';
import { start as startTensorflow } from '../../../workers/backends/tensorflow.ts';
import { checkBuild } from '../../../workers/backends/webgpu/dawn.ts';

const build = { tensorflow: '2.15.1', tfjsNode: '4.22.0', hasCuda: true, binding: 'b.node', libraryFolders: ['cuda'] };
const repairTensorflow = 'Run npx tutti setup (with --gpu for NVIDIA GPUs), or train with --backend wasm.';
const repairWebgpu = 'Run npx tutti setup --webgpu, or train with --backend wasm.';

let home: string;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'tutti-build-'));
  vi.stubEnv('TUTTI_HOME', home);
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(home, { recursive: true, force: true });
});

async function write(folder: string, text: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'build.json'), text);
  return join(folder, 'build.json');
}

describe('the build.json of a native backend', () => {
  it('is null if no backend is set up', () => {
    expect([readNativeBuild(), readWebgpuBuild()]).toEqual([null, null]);
    expect(usableKinds()).toEqual(['cpu']);
    expect(nativeEnvironment()).toEqual({});
  });

  it('is read if a backend is set up', async () => {
    await write(homePaths().tensorflow, JSON.stringify(build));
    await write(homePaths().webgpu, '{"webgpu":"0.3.0","tfjsBackendWebgpu":"4.22.0"}');
    expect(readNativeBuild()).toEqual(build);
    expect(usableKinds()).toEqual(['cuda', 'webgpu', 'webgpu-cpu', 'cpu']);
  });

  it('is refused if others can write it, a library that it names, or a folder above', async () => {
    const { tensorflow, webgpu } = homePaths();
    await write(tensorflow, JSON.stringify(build));
    await write(webgpu, '{"webgpu":"0.3.0","tfjsBackendWebgpu":"4.22.0"}');
    await writeFile(join(tensorflow, 'b.node'), '');
    await chmod(join(tensorflow, 'b.node'), 0o666);
    expect(readNativeBuild).toThrow('b.node is not loaded, because somebody else could have changed it: it can be');
    await chmod(home, 0o777);
    expect(readWebgpuBuild).toThrow(/webgpu is not loaded.* can be written by every user of this machine/);
    expect(() => usableKinds('webgpu')).toThrow('is not loaded');
    expect(nativeEnvironment()).toEqual({});
  });

  it.each(['/tmp/evil.node', '../../evil.node', 'a/../../evil.node', 'C:\\evil.node'])(
    'is damaged if it names %s, which is not below its folder',
    async (binding) => {
      await write(homePaths().tensorflow, JSON.stringify({ ...build, binding }));
      expect(readNativeBuild).toThrow('must be a path below the folder of build.json');
    },
  );

  it.each([
    ['an empty file', '', 'it is not JSON (Unexpected end of JSON input)'],
    ['half a file', '{"tensorflow":"2.1', 'it is not JSON (Unterminated string in JSON at position 18'],
    [
      'a missing field',
      JSON.stringify({ ...build, binding: undefined }),
      'expected string, received undefined → at binding',
    ],
    ['another type', '[]', 'expected object, received array'],
  ])('is refused, naming the file, the finding and the command: %s', async (_, text, finding) => {
    const file = await write(homePaths().tensorflow, text);
    expect(readNativeBuild).toThrow(`${file} is damaged: `);
    expect(readNativeBuild).toThrow(finding);
    expect(readNativeBuild).toThrow(repairTensorflow);
    expect(() => usableKinds('tensorflow')).toThrow(finding);
    expect(usableKinds('wasm')).toEqual(['cpu']);
    vi.stubEnv('TUTTI_TENSORFLOW', homePaths().tensorflow);
    await expect(startTensorflow()).rejects.toThrow(`${file} is damaged: `);
  });

  it('is refused if it cannot be read', async () => {
    await mkdir(join(homePaths().tensorflow, 'build.json'), { recursive: true });
    expect(readNativeBuild).toThrow(
      `Cannot read ${join(homePaths().tensorflow, 'build.json')}: a folder has this name`,
    );
  });

  it('does not stop processes that need no native backend', async () => {
    await write(homePaths().tensorflow, '');
    expect(nativeEnvironment()).toMatchObject({ TUTTI_TENSORFLOW: homePaths().tensorflow });
  });

  it('is reported for WebGPU wherever it is needed', async () => {
    const file = await write(homePaths().webgpu, '{}');
    const damaged = `${file} is damaged: `;
    expect(readWebgpuBuild).toThrow(damaged);
    expect(readWebgpuBuild).toThrow(repairWebgpu);
    expect(() => checkBuild(homePaths().webgpu)).toThrow(damaged);
    await expect(machineAdapters.list()).resolves.toMatchObject({
      kind: 'failed',
      reason: expect.stringContaining(damaged),
    });
  });

  it('is a reason why devices cannot be used', async () => {
    const file = await write(homePaths().tensorflow, '');
    const device = (kind: Device['kind']) => ({ kind, id: `${kind}:0`, index: 0, name: kind }) as Device;
    expect(describeUse(device('cuda'))).toContain(`no: ${file} is damaged`);
    expect([isUsable(device('cuda')), isUsable(device('cpu'))]).toEqual([false, true]);
  });
});
