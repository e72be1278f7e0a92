import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { webgpuAdapterVariable, webgpuFolderVariable } from '../../../core/protocol/machine/webgpu.ts';

const root = resolve(import.meta.dirname, '../../..');
/** Kept between runs of the tests: it takes a download of 50 MB. */
const home = join(root, 'node_modules', '.cache', 'tutti');
/** Debian's Chromium brings a Vulkan driver that computes on the CPU, and a loader for it. */
export const chromium = '/usr/lib/chromium';
const driver = join(chromium, 'vk_swiftshader_icd.json');

export const webgpuFolder = join(home, 'native', 'webgpu');
export const swiftShader = 'SwiftShader Device (Subzero)';

/**
 * Sets WebGPU up by the user's own command, unless an earlier test has, and names it and SwiftShader to this process and its children.
 * @returns null, or why it cannot be had here
 */
export async function setUpSwiftShader(): Promise<string | null> {
  if (!existsSync(driver)) return `there is no SwiftShader: Debian's chromium would bring ${driver}`;
  if (!(await loadVulkan())) return "koffi is not installed, which loads Vulkan's loader";
  if (!existsSync(webgpuFolder)) {
    const run = promisify(execFile);
    const isThere = await run('npm', ['view', 'webgpu@0.6.2', 'version'], { timeout: 15_000 }).catch(() => null);
    if (isThere === null) return 'the npm registry cannot be reached';
    await run('npm', ['run', 'setup:native', '--', '--webgpu'], {
      cwd: root,
      env: { ...process.env, TUTTI_HOME: home },
    });
  }
  const paths = [chromium, process.env.LD_LIBRARY_PATH].filter((path) => path !== undefined);
  Object.assign(process.env, {
    LD_LIBRARY_PATH: paths.join(':'),
    VK_ICD_FILENAMES: driver,
    [webgpuFolderVariable]: webgpuFolder,
    [webgpuAdapterVariable]: swiftShader,
  });
  return null;
}

/** A library that nobody holds is unloaded. */
const held: unknown[] = [];

/** Children find the loader by the library path, which this process can no longer be given: here it is loaded beforehand. */
async function loadVulkan(): Promise<boolean> {
  const koffi = await import('koffi').catch(() => null);
  if (koffi !== null) held.push(koffi.default.load(join(chromium, 'libvulkan.so.1')));
  return koffi !== null;
}
