import { spawnSync } from 'node:child_process';
import { whyNotMapped } from '../../src-main/processes/app-files.ts';
import { notLinux } from './reasons.ts';

/** Reasons why tests of MPI cannot run here, or null. */

const whyNot = (command: string, prints: string, name: string): string | null => {
  const { error, stdout } = spawnSync(command, ['--version'], { encoding: 'utf8', timeout: 10_000 });
  return error === undefined && stdout.includes(prints) ? null : `${name} is not installed`;
};

/** Nothing here can use MPI. */
export const obstacle = notLinux ?? whyNotMapped();
export const noOpenMpi = obstacle ?? whyNot('mpirun', 'Open MPI', 'Open MPI');
export const noMpich = obstacle ?? whyNot('mpiexec.hydra', 'HYDRA', 'MPICH');

const works = (command: string, ...args: string[]): boolean =>
  spawnSync(command, args, { timeout: 10_000 }).status === 0;
const noNamespaces = works('ip', '-V') && works('tc', '-V') ? null : 'iproute2 is not installed';
/** Nodes as network namespaces: `test/cluster/network.sh`. */
export const noCluster =
  noOpenMpi ?? noNamespaces ?? (works('unshare', '--net', 'true') ? null : 'only root can make network namespaces');
