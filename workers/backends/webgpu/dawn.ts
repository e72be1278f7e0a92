import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readBuildFile } from '../../../core/node/atomic-file.ts';
import {
  type WebgpuAdapter,
  webgpuBuildSchema,
  webgpuDriverRemedy,
  webgpuSetupRemedy,
} from '../../../core/protocol/machine/devices.ts';

/** An adapter's description of itself. `device` is its name, normalized as WebGPU prescribes. */
interface AdapterInfo {
  readonly device: string;
  readonly description: string;
  /** It computes on the CPU. */
  readonly isFallbackAdapter: boolean;
}

export interface Adapter {
  readonly info: AdapterInfo;
}

interface Gpu {
  requestAdapter(options: { powerPreference: 'high-performance' }): Promise<Adapter | null>;
}

/**
 * Chromium's WebGPU, as the npm package `webgpu` brings it: Vulkan on Linux, Metal on macOS, Direct3D 12 on Windows.
 */
export interface Dawn {
  create(flags: string[]): Gpu;
  /** WebGPU's classes and constants, which are globals in a browser. */
  readonly globals: Record<string, unknown>;
}

/** @throws when the folder holds no build or a damaged one, saying how to make one */
export function checkBuild(folder: string): void {
  const build = folder === '' ? null : readBuildFile(folder, webgpuBuildSchema, webgpuSetupRemedy);
  if (build === null) {
    throw new Error(`The webgpu backend is not set up${folder === '' ? '' : ` in ${folder}`}. ${webgpuSetupRemedy}`);
  }
}

export async function loadDawn(folder: string): Promise<Dawn> {
  return (await import(pathToFileURL(join(folder, 'webgpu', 'index.js')).href)) as Dawn;
}

/**
 * Keeps Dawn's instances alive: adapters and devices do not, and the process crashes when an instance is
 * garbage-collected.
 */
const instances: Gpu[] = [];

function requestAdapter(dawn: Dawn, name: string | null): Promise<Adapter | null> {
  const gpu = dawn.create(name === null ? [] : [`adapter=${name}`]);
  instances.push(gpu);
  // Prefers discrete GPUs over integrated ones, both when listing and when choosing.
  return gpu.requestAdapter({ powerPreference: 'high-performance' });
}

/** All adapters, in Dawn's order. Adapters with the same name are described by the first one. */
export async function listAdapters(dawn: Dawn): Promise<WebgpuAdapter[]> {
  const names = await adapterNames(dawn);
  const isSoftware = new Map<string, boolean>();
  for (const name of new Set(names)) {
    const adapter = await requestAdapter(dawn, name);
    isSoftware.set(name, adapter?.info.isFallbackAdapter === true);
  }
  return names.map((name) => ({ name, isSoftware: isSoftware.get(name) === true }));
}

/** WebGPU cannot list adapters, but Dawn names all of them in its error for an unknown adapter. */
async function adapterNames(dawn: Dawn): Promise<string[]> {
  try {
    await requestAdapter(dawn, '(no adapter has this name)');
    return [];
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (!message.includes('Available adapters:')) throw error;
    return [...message.matchAll(/^ \* backend: '.*', name: '(.*)'$/gm)].map(([, name]) => name);
  }
}

/**
 * The adapter with this name; for null the first GPU. Dawn returns the first adapter whose name contains the request,
 * so the result's name is checked.
 * @throws Error if there is no such adapter, or Dawn returned another one
 */
export async function chooseAdapter(dawn: Dawn, name: string | null): Promise<Adapter> {
  const adapter = await requestAdapter(dawn, name).catch(async (cause: unknown) => {
    const names = (await adapterNames(dawn)).map((other) => `"${other}"`).join(', ');
    throw new Error(`There is no WebGPU adapter "${name}", only ${names}. tutti devices lists the present ones.`, {
      cause,
    });
  });
  if (adapter === null) throw new Error(noAdapter);
  const { device, isFallbackAdapter } = adapter.info;
  if (name === null && isFallbackAdapter) {
    throw new Error(
      `The only WebGPU adapter, "${device}", computes on the CPU. ${webgpuDriverRemedy(process.platform)} ` +
        '--backend wasm is faster than that adapter. To use it anyway, name it: --devices webgpu-cpu:0.',
    );
  }
  if (name !== null && device !== normalizeIdentifier(name)) {
    throw new Error(
      `For the WebGPU adapter "${name}" Dawn returns "${device}", whose name contains it. Choose that device instead.`,
    );
  }
  return adapter;
}

/** https://gpuweb.github.io/gpuweb/#normalized-identifier-string, as Dawn implements it: a dash at the end stays. */
function normalizeIdentifier(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '');
}

const noAdapter = `Dawn finds no WebGPU adapter. ${webgpuDriverRemedy(process.platform)} --backend wasm trains on CPU cores.`;
