import { createHash } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import { totalmem } from 'node:os';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { formatBytes } from '../../core/text/numbers.ts';
import { noPermissions, type Permissions } from '../../core/protocol/run/permissions.ts';
import type { Device } from '../../core/protocol/machine/devices.ts';
import { appFile } from '../processes/app-files.ts';
import { type Grant, makeCacheFolder } from '../processes/confined.ts';
import { compileCache, dataFolders, homePaths } from '../store/home.ts';
import { mpiGrant } from './mpi-grant.ts';
import { allowedPermissions, requireTrust } from './project-trust.ts';

/** What a process is for, beside running the project's code. */
export interface GrantRequest {
  /** The project whose code runs; null for a process that runs none, because the project is not trusted. */
  project: string | null;
  /** Further paths that it reads: a run's folder. */
  read?: readonly string[];
  /** Further folders that it writes: a run's folder, its scratch folder. */
  write?: readonly string[];
  /** Whether it only describes the project, which takes no data and no network. */
  isDescribing?: boolean;
  /** The most memory that it may allocate; 0: that of the machine. */
  memoryLimitBytes?: number;
  device?: Device | undefined;
  /** Whether it calls MPI, for which it needs the network and the launcher's variables and files. */
  usesMpi?: boolean;
}

/**
 * What a process gets: Tutti's package, the project's folder, the folders of data, its run, and what the user allowed
 * the project.
 * @throws UntrustedError if the project is not trusted
 */
export function grantFor(request: GrantRequest): Grant {
  const {
    project,
    read = [],
    write = [],
    isDescribing = false,
    memoryLimitBytes = 0,
    device,
    usesMpi = false,
  } = request;
  const folder = project === null ? null : requireTrust(project);
  const allowed = folder === null ? noPermissions : allowedPermissions(folder);
  const { lookup, cache } = dataFolders();
  const data = isDescribing ? [] : [lookup, ...pathsOf(allowed.read, folder)];
  const writable = isDescribing ? [] : [cache, ...pathsOf(allowed.write, folder)];
  makeCacheFolder(cache);
  const mpi = usesMpi ? mpiGrant() : { environment: [], read: [], write: [] };
  return {
    read: existing([...ownFolders(), ...foldersOfProject(folder, project), ...data, ...mpi.read, ...read]),
    write: existing([...writable, ...mpi.write, ...write]),
    network: usesMpi || (allowed.network && !isDescribing),
    processes: allowed.processes && !isDescribing,
    environment: [...allowed.environment, ...mpi.environment],
    memoryBytes: memoryOf(memoryLimitBytes, device),
    compileCache: join(compileCache(), 'projects', shortHash(folder ?? 'none')),
  };
}

/** What a grant allows, one phrase each, for logs and for people. */
export function describeGrant({ read, write, network, processes, environment, memoryBytes }: Grant): string[] {
  const own = existing(ownFolders());
  const paths = read.filter((path) => !own.includes(path));
  return [
    `reads Tutti${paths.length === 0 ? '' : `, ${paths.join(', ')}`}`,
    `writes ${write.length === 0 ? 'nothing' : write.join(', ')}`,
    network ? 'uses the network' : 'no network',
    processes ? 'starts other programs' : 'no other programs',
    ...(environment.length === 0 ? [] : [`variables ${environment.join(', ')}`]),
    memoryBytes === null ? 'no limit on memory' : `at most ${formatBytes(memoryBytes)} of memory per process`,
  ];
}

/** Tutti's sources, its packages, and the native backends that were set up. */
function ownFolders(): string[] {
  const { tensorflow, webgpu, blas } = homePaths();
  const own = resolve(appFile('.'));
  // Work trees of git share one folder of packages by a link.
  return [own, join(own, 'node_modules'), ...foldersOfPackages(own), tensorflow, webgpu, blas];
}

/**
 * Where Tutti is installed as a package, the packages that it imports lie beside it; pnpm keeps them in a store in
 * `node_modules`.
 */
function foldersOfPackages(own: string): string[] {
  if (basename(dirname(own)) !== 'node_modules') return [];
  const store = own.indexOf(`${sep}node_modules${sep}.pnpm${sep}`);
  return store === -1 ? [dirname(own)] : [own.slice(0, store + `${sep}node_modules${sep}.pnpm`.length)];
}

/** The project's folder as it was named and without symbolic links, and what Node looks up above it for its imports. */
function foldersOfProject(real: string | null, named: string | null): string[] {
  if (real === null || named === null) return [];
  const above: string[] = [];
  for (let folder = dirname(real); folder !== dirname(folder); folder = dirname(folder)) {
    above.push(join(folder, 'node_modules'), join(folder, 'package.json'));
  }
  return [real, resolve(named), ...above];
}

/** Paths of a project's permissions are absolute, or relative to its folder. */
function pathsOf(paths: Permissions['read'], folder: string | null): string[] {
  return paths.map((path) => resolve(folder ?? '', path));
}

/** Returns existing paths with symbolic links and without: Node checks the path that the code names. */
function existing(paths: readonly (string | null)[]): string[] {
  const found = paths.filter((path) => path !== null && existsSync(path)) as string[];
  return [...new Set(found.flatMap((path) => [path, realpathSync(path)]))];
}

/** Drivers of GPUs reserve far more than they use. */
function memoryOf(limitBytes: number, device: Device | undefined): number | null {
  if (limitBytes > 0) return limitBytes;
  if (device !== undefined && device.kind !== 'cpu') return null;
  return process.constrainedMemory() > 0 ? Math.min(process.constrainedMemory(), totalmem()) : totalmem();
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
