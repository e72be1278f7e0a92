import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { webgpuAdapterVariable, webgpuFolderVariable } from '../../core/protocol/machine/devices.ts';
import { testHome } from './test-home.ts';

/** Debian's Chromium brings a Vulkan driver that computes on the CPU, and a loader for it. */
export const chromium = '/usr/lib/chromium';
const driver = join(chromium, 'vk_swiftshader_icd.json');

export const webgpuFolder = join(testHome, 'native', 'webgpu');
export const swiftShader = 'SwiftShader Device (Subzero)';

/**
 * Names the WebGPU that `npm run test:setup` made, and SwiftShader, to this process and its children.
 * @returns null, or why tests cannot use them here
 */
export async function useSwiftShader(): Promise<string | null> {
  if (!existsSync(driver)) return 'SwiftShader is not installed: apt-get install chromium (Debian)';
  if (!existsSync(webgpuFolder)) return 'WebGPU is not set up: npm run test:setup';
  if (!(await loadVulkan())) return "koffi, which loads Vulkan's loader, is not installed: npm ci";
  const paths = [chromium, process.env.LD_LIBRARY_PATH].filter((path) => path !== undefined);
  Object.assign(process.env, {
    LD_LIBRARY_PATH: paths.join(':'),
    VK_ICD_FILENAMES: driver,
    [webgpuFolderVariable]: webgpuFolder,
    [webgpuAdapterVariable]: swiftShader,
  });
  return null;
}

/** Node unloads a library once nothing refers to it. */
const held: unknown[] = [];

/**
 * Children find the loader by the library path. This process has started without that path, so it loads the loader
 * beforehand.
 */
async function loadVulkan(): Promise<boolean> {
  const koffi = await import('koffi').catch(() => null);
  if (koffi !== null) held.push(koffi.default.load(join(chromium, 'libvulkan.so.1')));
  return koffi !== null;
}
