import { existsSync, realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { refuseLibrary } from '../../core/node/file-owner.ts';
import { readBuildFile } from '../../core/node/atomic-file.ts';
import {
  type Device,
  type NativeBuild,
  nativeBuildSchema,
  nativeFolderVariable,
  nativeSetupRemedy,
  webgpuAdapterVariable,
  type WebgpuBuild,
  webgpuBuildSchema,
  webgpuFolderVariable,
  webgpuSetupRemedy,
} from '../../core/protocol/machine/devices.ts';
import type { RunConfig } from '../../core/protocol/run/config.ts';
import { homePaths } from '../store/home.ts';

type BackendChoice = RunConfig['backend'];

/**
 * The TensorFlow that `tutti setup` set up; null where it was not.
 * @throws where its build.json is damaged, or somebody else can change its libraries
 */
export function readNativeBuild(): NativeBuild | null {
  const folder = homePaths().tensorflow;
  requireOwnFiles(folder);
  const build = readBuildFile(folder, nativeBuildSchema, nativeSetupRemedy);
  for (const path of [build?.binding, ...(build?.libraryFolders ?? [])]) requireOwnFiles(join(folder, path ?? ''));
  return build;
}

/** The WebGPU that `tutti setup --webgpu` set up; null where it was not. @throws as {@link readNativeBuild} does */
export function readWebgpuBuild(): WebgpuBuild | null {
  const folder = homePaths().webgpu;
  for (const path of ['', 'webgpu', 'tfjs-backend-webgpu']) requireOwnFiles(join(folder, path));
  return readBuildFile(folder, webgpuBuildSchema, webgpuSetupRemedy);
}

/** @throws Error if somebody else can change a file or folder of a native backend */
function requireOwnFiles(path: string): void {
  const reason = refuseLibrary(path);
  if (reason !== null) throw new Error(reason);
}

/**
 * The kinds of devices that a backend can compute on, on this machine.
 * @throws when the backend is not set up, or damaged
 */
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

/** The backend for a rank: on a GPU, `auto` is the backend that computes there. */
export function backendOn({ kind }: Device, backend: BackendChoice): BackendChoice {
  if (backend !== 'auto' || kind === 'cpu') return backend;
  return kind === 'cuda' ? 'tensorflow' : 'webgpu';
}

/**
 * The variables that native backends read when they load, for a rank on this device. A damaged build is no error here,
 * since the process may need no native backend: a backend that does load reports it.
 */
export function nativeEnvironment(device?: Device): NodeJS.ProcessEnv {
  return { ...tensorflowEnvironment(device), ...webgpuEnvironment(device) };
}

/** Dawn's folder, and the adapter that a rank computes on. */
function webgpuEnvironment(device?: Device): NodeJS.ProcessEnv {
  const folder = homePaths().webgpu;
  if (!isLoadable(folder)) return {};
  const isAdapter = device?.kind === 'webgpu' || device?.kind === 'webgpu-cpu';
  return {
    [webgpuFolderVariable]: realpathSync(folder),
    ...(isAdapter ? { [webgpuAdapterVariable]: device.name } : {}),
    ...(device?.pciAddress === undefined ? {} : showOnly(device.pciAddress)),
  };
}

/**
 * Makes Mesa's device-select layer show a single Vulkan device: the one at a PCI address such as `0000:03:00.0`
 * (https://docs.mesa3d.org/envvars.html, `DRI_PRIME`).
 */
export function showOnly(pciAddress: string): NodeJS.ProcessEnv {
  return { DRI_PRIME: `pci-${pciAddress.replaceAll(/[:.]/g, '_')}!` };
}

/** TensorFlow's folder and libraries, and the one GPU that a rank may see (none for a rank on a core). */
function tensorflowEnvironment(device?: Device): NodeJS.ProcessEnv {
  const folder = homePaths().tensorflow;
  if (!isLoadable(folder)) return {};
  // The path that was checked, whatever a link says later.
  const real = realpathSync(folder);
  const libraries = libraryFolders().map((below) => join(real, below));
  const paths = [...libraries, process.env.LD_LIBRARY_PATH].filter((path) => path !== undefined);
  return {
    [nativeFolderVariable]: real,
    ...(libraries.length === 0 ? {} : { LD_LIBRARY_PATH: paths.join(delimiter) }),
    ...(device === undefined ? {} : { CUDA_VISIBLE_DEVICES: device.kind === 'cuda' ? String(device.index) : '' }),
    // CUDA then counts devices as nvidia-smi does.
    CUDA_DEVICE_ORDER: 'PCI_BUS_ID',
  };
}

/** Processes do not learn of a backend that somebody else could have changed. */
function isLoadable(folder: string): boolean {
  return existsSync(folder) && refuseLibrary(folder) === null;
}

function libraryFolders(): string[] {
  try {
    return readNativeBuild()?.libraryFolders ?? [];
  } catch {
    // See nativeEnvironment: the tensorflow backend reads the same file when it loads, and reports it.
    return [];
  }
}
