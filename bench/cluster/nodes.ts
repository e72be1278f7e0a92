import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { runRank } from '../collectives/hub-group.ts';

/**
 * Two nodes of a cluster as network namespaces of this machine, on which Open MPI starts `tutti train`. For root, on
 * Linux.
 */

const scripts = join(import.meta.dirname, '..', '..', 'test', 'cluster');
const tutti = join(import.meta.dirname, '..', '..', 'src-main', 'cli.ts');
const name = `bench-${process.pid}`;
const pointSchema = z.looseObject({ type: z.literal('point'), name: z.string(), step: z.int(), time: z.string() });

/** What lies between the nodes: a rate in the units of `tc`, or a delay each way. */
export type Link = { rate: string } | { delayMs: number };

/** Runs something with two nodes, and removes them. */
export async function withNodes<T>(link: Link, use: () => Promise<T>): Promise<T> {
  const delaying = 'rate' in link ? null : await delayedLink(link.delayMs);
  try {
    if ('rate' in link) network('up', '2', link.rate);
    return await use();
  } finally {
    delaying?.kill();
    network('down');
  }
}

const network = (action: string, ...args: string[]): void =>
  void execFileSync(join(scripts, 'network.sh'), [action, name, ...args]);

async function delayedLink(delayMs: number): Promise<ChildProcess> {
  const script = join(import.meta.dirname, 'delayed_link.py');
  const child = spawn('python3', [script, name, String(delayMs)], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return child;
}

/**
 * Steps per second of rank 0, without those of the first fifth.
 * @param hosts of the two ranks, as in `10.77.0.1:2`
 * @param args after `tutti train`; losses of single steps must be reported
 */
export async function stepsPerSecond(hosts: string, args: readonly string[]): Promise<number> {
  const home = await mkdtemp(join(tmpdir(), 'tutti-bench-'));
  const settings = { plm_rsh_agent: join(scripts, 'enter.sh'), btl_tcp_if_include: 'eth0', oob_tcp_if_include: 'eth0' };
  const mca = Object.entries(settings).flatMap(([key, value]) => ['--mca', key, value]);
  const environment = { TUTTI_CLUSTER: name, TUTTI_HOME: home, TUTTI_TRUST: join(scripts, '..', '..') };
  const passed = Object.entries(environment).flatMap(([key, value]) => ['-x', `${key}=${value}`]);
  const options = ['--allow-run-as-root', '--bind-to', 'none', '--host', hosts, '-n', '2', ...mca, ...passed];
  const program = [process.execPath, '--disable-warning=ExperimentalWarning', tutti, 'train', ...args];
  const command = [
    'env',
    `TUTTI_CLUSTER=${name}`,
    'unshare',
    '--uts',
    'bash',
    '-c',
    'hostname node1; exec "$@"',
    'bash',
  ];
  const mpirun = ['mpirun', ...options, ...program, '--json', '--collectives', 'mpi'];
  try {
    return rateOf(await runRank('ip', ['netns', 'exec', `${name}-1`, ...command, ...mpirun]));
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

function rateOf(printed: string): number {
  const points = printed.split('\n').flatMap((line) => {
    if (!line.startsWith('{"type":"point"') || !line.includes('"train/member_0_loss"')) return [];
    const { step, time } = pointSchema.parse(JSON.parse(line));
    return [{ step, ms: Date.parse(time) }];
  });
  const [first, last] = [points[Math.floor(points.length / 5)], points[points.length - 1]];
  return (1000 * (last.step - first.step)) / (last.ms - first.ms);
}
