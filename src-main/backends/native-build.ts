import { readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Device } from '../../protocol/devices.ts';
import { type NativeBuild, nativeBuildSchema, nativeFolderVariable } from '../../protocol/native-build.ts';
import type { RunConfig } from '../../protocol/run-config.ts';
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

/** What a backend can compute on, as this machine is set up. */
export function usableKinds(backend: BackendChoice = 'auto'): readonly Device['kind'][] {
  const hasCuda = (backend === 'auto' || backend === 'tensorflow') && readNativeBuild()?.hasCuda === true;
  return hasCuda ? ['cuda', 'cpu'] : ['cpu'];
}

/** `auto` on a GPU is the backend that computes on it. */
export function backendOn(device: Device, backend: BackendChoice): BackendChoice {
  return backend === 'auto' && device.kind === 'cuda' ? 'tensorflow' : backend;
}

/** What TensorFlow reads when it is loaded: where its libraries are, and the one GPU that a rank may see (none, on a core). */
export function nativeEnvironment(device?: Device): NodeJS.ProcessEnv {
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
