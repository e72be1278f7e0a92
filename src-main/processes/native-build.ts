import { readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Device } from '../../core/protocol/machine/devices.ts';
import { type NativeBuild, nativeBuildSchema, nativeFolderVariable } from '../../core/protocol/machine/native-build.ts';
import type { RunConfig } from '../../core/protocol/run/config.ts';
import {
  webgpuAdapterVariable,
  type WebgpuBuild,
  webgpuBuildSchema,
  webgpuFolderVariable,
  webgpuSetupRemedy,
} from '../../core/protocol/machine/webgpu.ts';
import { homePaths } from '../store/home.ts';

type BackendChoice = RunConfig['backend'];

/** The TensorFlow that `npm run setup:native` set up; null where it was not, or left something that cannot be read. */
export function readNativeBuild(): NativeBuild | null {
  try {
    return nativeBuildSchema.parse(JSON.parse(readFileSync(join(homePaths().tensorflow, 'build.json'), 'utf8')));
  } catch {
    return null;
  }
}

/** The WebGPU that `npm run setup:native -- --webgpu` set up; null where it was not. */
export function readWebgpuBuild(): WebgpuBuild | null {
  try {
    return webgpuBuildSchema.parse(JSON.parse(readFileSync(join(homePaths().webgpu, 'build.json'), 'utf8')));
  } catch {
    return null;
  }
}

/** What a backend can compute on, as this machine is set up. @throws when it is not set up at all */
export function usableKinds(backend: BackendChoice = 'auto'): readonly Device['kind'][] {
  const hasCuda = (backend === 'auto' || backend === 'tensorflow') && readNativeBuild()?.hasCuda === true;
  const hasWebgpu = (backend === 'auto' || backend === 'webgpu') && readWebgpuBuild() !== null;
  if (backend === 'webgpu' && !hasWebgpu) {
    throw new Error(`The webgpu backend is not set up. ${webgpuSetupRemedy}`);
  }
  return [
    ...(hasCuda ? (['cuda'] as const) : []),
    ...(hasWebgpu ? (['webgpu', 'webgpu-cpu'] as const) : []),
    ...(backend === 'webgpu' ? [] : (['cpu'] as const)),
  ];
}

/** `auto` on a GPU is the backend that computes on it. */
export function backendOn({ kind }: Device, backend: BackendChoice): BackendChoice {
  if (backend !== 'auto' || kind === 'cpu') return backend;
  return kind === 'cuda' ? 'tensorflow' : 'webgpu';
}

/** What the native backends read when they are loaded, for a rank on this device. */
export function nativeEnvironment(device?: Device): NodeJS.ProcessEnv {
  return { ...tensorflowEnvironment(device), ...webgpuEnvironment(device) };
}

/** Where Dawn is, and the adapter that a rank computes on. */
function webgpuEnvironment(device?: Device): NodeJS.ProcessEnv {
  if (readWebgpuBuild() === null) return {};
  const isAdapter = device?.kind === 'webgpu' || device?.kind === 'webgpu-cpu';
  return {
    [webgpuFolderVariable]: homePaths().webgpu,
    ...(isAdapter ? { [webgpuAdapterVariable]: device.name } : {}),
    ...(device?.pciAddress === undefined ? {} : showOnly(device.pciAddress)),
  };
}

/**
 * Has Mesa's device-select layer show one Vulkan device only: the one at a PCI address such as `0000:03:00.0`
 * (https://docs.mesa3d.org/envvars.html, `DRI_PRIME`).
 */
export function showOnly(pciAddress: string): NodeJS.ProcessEnv {
  return { DRI_PRIME: `pci-${pciAddress.replaceAll(/[:.]/g, '_')}!` };
}

/** Where TensorFlow's libraries are, and the one GPU that a rank may see (none, on a core). */
function tensorflowEnvironment(device?: Device): NodeJS.ProcessEnv {
  const build = readNativeBuild();
  if (build === null) return {};
  const folder = homePaths().tensorflow;
  const libraries = build.libraryFolders.map((below) => join(folder, below));
  const paths = [...libraries, process.env.LD_LIBRARY_PATH].filter((path) => path !== undefined);
  return {
    [nativeFolderVariable]: folder,
    ...(libraries.length === 0 ? {} : { LD_LIBRARY_PATH: paths.join(delimiter) }),
    ...(device === undefined ? {} : { CUDA_VISIBLE_DEVICES: device.kind === 'cuda' ? String(device.index) : '' }),
    // So that indices are those of nvidia-smi.
    CUDA_DEVICE_ORDER: 'PCI_BUS_ID',
  };
}
