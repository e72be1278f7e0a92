import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { refuseLibrary } from '../../core/node/file-owner.ts';
import { type Blas, ownBlasName } from '../../core/protocol/machine/devices.ts';
import type { CommandRunner } from '../processes/command.ts';
import { homePaths } from '../store/home.ts';

export type BlasLibrary = Omit<Blas, 'coreType'>;

/** The system's access to libraries; tests replace it. */
export interface LibrarySystem {
  platform: NodeJS.Platform;
  environment: NodeJS.ProcessEnv;
  /** The folder of the OpenBLAS that `tutti setup --blas` fetches. */
  ownFolder: string;
  run: CommandRunner;
  exists(path: string): boolean;
  /** Why a file must not be loaded; null if it may. */
  refuse(path: string): string | null;
  resolve(path: string): Promise<string>;
}

export const thisSystem = (run: CommandRunner, ownFolder = homePaths().blas): LibrarySystem => ({
  platform: process.platform,
  environment: process.env,
  ownFolder,
  run,
  exists: existsSync,
  refuse: refuseLibrary,
  resolve: realpath,
});

/** File names of libraries with the C interface (`cblas_sgemm`, 32-bit sizes), in order of preference. */
const names: Partial<Record<NodeJS.Platform, [Blas['kind'], string[]][]>> = {
  linux: [
    ['OpenBLAS', ['libopenblas.so.0', 'libopenblasp.so.0', 'libopenblaso.so.0', 'libopenblas.so']],
    ['BLIS', ['libblis.so.4', 'libblis.so.3', 'libblis-mt.so', 'libblis.so']],
    ['MKL', ['libmkl_rt.so.2', 'libmkl_rt.so.1', 'libmkl_rt.so']],
  ],
  darwin: [['OpenBLAS', ['libopenblas.dylib', 'libopenblas.0.dylib']]],
  win32: [
    ['OpenBLAS', ['libopenblas.dll', 'openblas.dll']],
    ['MKL', ['mkl_rt.2.dll', 'mkl_rt.1.dll', 'mkl_rt.dll']],
  ],
};

/** Part of the system. Its file exists only in the linker's cache, so no search finds it. */
const accelerate: BlasLibrary = {
  kind: 'Accelerate',
  library: '/System/Library/Frameworks/Accelerate.framework/Accelerate',
};

/**
 * The OpenBLAS that was set up in Tutti's home, and the BLAS libraries of this system, at most one of each kind: the
 * first file that may be loaded, else the first.
 */
export async function findBlasLibraries(system: LibrarySystem): Promise<BlasLibrary[]> {
  const known = await knownToLinker(system);
  const folders = libraryFolders(system);
  const own = join(system.ownFolder, ownBlasName(system.platform));
  const found: BlasLibrary[] = system.platform === 'darwin' ? [accelerate] : [];
  if (system.exists(own)) found.push({ kind: 'OpenBLAS', library: await system.resolve(own) });
  for (const [kind, candidates] of names[system.platform] ?? []) {
    const paths = [
      ...folders.flatMap((folder) => candidates.map((name) => join(folder, name))),
      ...candidates.flatMap((name) => known.get(name) ?? []),
    ];
    const present = paths.filter((candidate) => system.exists(candidate));
    const path = present.find((candidate) => system.refuse(candidate) === null) ?? present[0];
    if (path !== undefined) found.push({ kind, library: await system.resolve(path) });
  }
  return found;
}

/** Folders that the user's environment names (such as an active conda environment), then those of package managers. */
function libraryFolders({ platform, environment }: LibrarySystem): string[] {
  const { CONDA_PREFIX: conda, MKLROOT: mkl, LD_LIBRARY_PATH: search = '', Path, PATH = Path ?? '' } = environment;
  const listed = (list: string): string[] => list.split(delimiter).filter((folder) => folder !== '');
  if (platform === 'win32') return [...(conda ? [join(conda, 'Library', 'bin')] : []), ...listed(PATH)];
  const own = [...listed(search), ...(conda ? [join(conda, 'lib')] : []), ...(mkl ? [join(mkl, 'lib')] : [])];
  if (platform === 'darwin') return [...own, '/opt/homebrew/opt/openblas/lib', '/usr/local/opt/openblas/lib'];
  return [...own, '/opt/intel/oneapi/mkl/latest/lib'];
}

/**
 * Paths by library name, from Linux's dynamic linker:
 * `	libblis.so.4 (libc6,x86-64) => /lib/x86_64-linux-gnu/libblis.so.4`.
 */
async function knownToLinker({ platform, run }: LibrarySystem): Promise<Map<string, string>> {
  const known = new Map<string, string>();
  if (platform !== 'linux') return known;
  const result = await run('/sbin/ldconfig', ['-p']);
  if (result.status !== 'exited') return known;
  for (const [, name, path] of result.stdout.matchAll(/^\s+(\S+) \([^)]*\) => (\S+)$/gm)) {
    if (!known.has(name)) known.set(name, path);
  }
  return known;
}
