import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { type LaunchedTask, tutti, watchProcess } from '../nodes/launch.ts';
import type { Launcher } from './launch.ts';

const scripts = join(import.meta.dirname, '../../cluster');
const clusterName = `t${process.pid}`;

/** Does something to the nodes: `test/cluster/network.sh`. */
export const network = (action: string, ...args: string[]): void =>
  void execFileSync(join(scripts, 'network.sh'), [action, clusterName, ...args]);

/** Makes nodes, as network namespaces of this machine, for all tests of a file. */
export function useNodes(count: number): void {
  beforeAll(() => network('up', `${count}`));
  afterAll(() => network('down'));
}

/** Runs a command on a node. @returns what it prints */
const onNode = (node: number, ...command: string[]): string =>
  execFileSync('ip', ['netns', 'exec', `${clusterName}-${node}`, ...command], { encoding: 'utf8' });

/** How many packets had to wait because the node's link was too slow for them. */
export const waitingPackets = (node: number): number =>
  Number(/overlimits (\d+)/.exec(onNode(node, 'tc', '-s', 'qdisc', 'show', 'dev', 'eth0'))?.[1]);

/** The processes that run on a node. */
export const pidsOn = (node: number): string[] =>
  execFileSync('ip', ['netns', 'pids', `${clusterName}-${node}`], { encoding: 'utf8' })
    .split('\n')
    .filter(Boolean);

/** Starts a program on a node. */
export function startOn(
  node: number,
  command: readonly string[],
  variables: Record<string, string> = {},
): LaunchedTask {
  const inside = ['ip', 'netns', 'exec', `${clusterName}-${node}`, ...command];
  return watchProcess(inside, { ...variables, TUTTI_CLUSTER: clusterName });
}

/**
 * The launcher notices in seconds that a node is gone. Its processes leave the cores, of which there are too few, to
 * each other.
 */
const settings = Object.entries({
  plm_rsh_agent: join(scripts, 'enter.sh'),
  btl_tcp_if_include: 'eth0',
  oob_tcp_if_include: 'eth0',
  oob_tcp_keepalive_time: '1',
  oob_tcp_keepalive_intvl: '1',
  oob_tcp_keepalive_probes: '2',
  mpi_yield_when_idle: '1',
}).flatMap(([name, value]) => ['--mca', name, value]);
const passed = ['TUTTI_CLUSTER', 'TUTTI_HOME', 'TUTTI_TRUST'].flatMap((variable) => ['-x', variable]);
const launchers = {
  'Open MPI': ['mpirun', '--allow-run-as-root', '--bind-to', 'none', ...settings, ...passed, '--host'],
  MPICH: ['mpiexec.hydra', '-launcher', 'rsh', '-launcher-exec', join(scripts, 'enter.sh'), '-iface', 'eth0', '-hosts'],
} as const;

/**
 * Starts a script of Node by a launcher of MPI on the first node.
 * @param nodes a digit for each rank, its node from 0 on: `0011`
 */
export function startOnCluster(launcher: Launcher, nodes: string, script: readonly string[]): LaunchedTask {
  const counts = Map.groupBy(nodes, (node) => node);
  const hosts = [...counts].map(([node, ranks]) => `10.77.0.${Number(node) + 1}:${ranks.length}`).join(',');
  const count = ['-n', `${nodes.length}`];
  return startOn(1, [...launchers[launcher], hosts, ...count, process.execPath, ...script]);
}

/** Starts `tutti` by a launcher of MPI, a task for each rank. @param args after `tutti` */
export function startTuttiOnCluster(launcher: Launcher, nodes: string, args: readonly string[]): LaunchedTask {
  return startOnCluster(launcher, nodes, ['--disable-warning=ExperimentalWarning', tutti, ...args]);
}
