import { dirname, isAbsolute, join } from 'node:path';

/** What a worker gets beside its usual rights where its ranks exchange arrays by MPI. */
export interface MpiGrant {
  /** Names of the variables by which the launcher and the library's settings reach it. */
  environment: string[];
  read: string[];
  write: string[];
}

const passedNames = /^(OMPI|PMIX|PMI|PRTE|ORTE|OPAL|MPI|MPIR|MPICH|I_MPI|HYDRA|HYDI|UCX|FI|PSM2|SLURM)_/;
const settingsFolders = ['/etc/openmpi', '/etc/openmpi-mca-params.conf', '/etc/pmix', '/etc/mpich', '/etc/libfabric'];

/** @param env of this process, which the launcher has started */
export function mpiGrant(env: NodeJS.ProcessEnv = process.env): MpiGrant {
  // Open MPI keeps the files of a job in the folder of its launcher on the node: <session>/<job>/<process>.
  const { OMPI_FILE_LOCATION: own, PMIX_SERVER_TMPDIR: servers } = env;
  const session = [...(own === undefined ? [] : [dirname(dirname(own))]), ...(servers === undefined ? [] : [servers])];
  return {
    environment: Object.keys(env).filter((name) => passedNames.test(name)),
    read: [...settingsFolders, ...foldersOf(env.TUTTI_MPI_LIBRARY)],
    write: [...session, '/dev/shm'],
  };
}

/**
 * A library that the user names needs its components and their settings, which lie beside it: <prefix>/lib,
 * <prefix>/share, <prefix>/etc.
 */
function foldersOf(library: string | undefined): string[] {
  if (library === undefined || !isAbsolute(library)) return [];
  const folder = dirname(library);
  return [folder, join(folder, '..', 'share'), join(folder, '..', 'etc')];
}

/**
 * The descriptor by which the launcher of MPICH (hydra) speaks with a process that it has started: the worker that
 * enters MPI needs it.
 * @param passed names of the variables that reach the worker
 */
export function passedDescriptor(passed: readonly string[], env: NodeJS.ProcessEnv = process.env): number | null {
  const text = env.PMI_FD;
  if (text === undefined || !passed.includes('PMI_FD')) return null;
  const descriptor = Number(text);
  if (Number.isInteger(descriptor) && descriptor > 2 && descriptor < 1024) return descriptor;
  throw new Error(
    `PMI_FD is "${text}", and must be the number of a descriptor. mpiexec sets it; unset it to start without.`,
  );
}
