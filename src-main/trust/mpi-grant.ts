import { dirname } from 'node:path';

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
    read: settingsFolders,
    write: [...session, '/dev/shm'],
  };
}
