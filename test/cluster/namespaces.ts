import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { notRoot } from '../environment/reasons.ts';

/** Nodes of a cluster as network namespaces of this machine (`network.sh`). */

const script = join(import.meta.dirname, 'network.sh');
/** Takes the place of ssh for mpirun. */
export const enterScript = join(import.meta.dirname, 'enter.sh');

/** Why there can be none here; null if they can. */
export const noNamespaces = notRoot === null ? whyNoNamespaces() : 'only root can make network namespaces';

function whyNoNamespaces(): string | null {
  const name = `tutti-try-${process.pid}`;
  const { error, status } = spawnSync('bash', [script, 'up', name, '1'], { encoding: 'utf8' });
  spawnSync('bash', [script, 'down', name]);
  return error === undefined && status === 0 ? null : 'no network namespace can be made';
}

export class Namespaces {
  readonly name: string;

  /** @param count nodes, from 1 on, with the addresses 10.77.0.1 and so on @param rate of each link, in tc's units: `10gbit` */
  constructor(count: number, rate?: string) {
    this.name = `tutti-${process.pid}`;
    this.#run('up', String(count), ...(rate === undefined ? [] : [rate]));
  }

  /** A command that runs another one on a node, under a host name of that node. */
  on(node: number, command: readonly string[]): string[] {
    const inside = `hostname node${node}; exec "$@"`;
    return [
      'ip',
      'netns',
      'exec',
      `${this.name}-${node}`,
      'unshare',
      '--uts',
      'bash',
      '-c',
      inside,
      'bash',
      ...command,
    ];
  }

  /** Takes a node's link down: nothing arrives, and nobody hears of it. */
  cut(node: number): void {
    this.#run('cut', String(node));
  }

  /** Limits what a node sends. @param rate in tc's units: `2mbit` */
  slow(node: number, rate: string): void {
    this.#run('slow', String(node), rate);
  }

  /** Ends all processes of the nodes, and removes them. */
  close(): void {
    this.#run('down');
  }

  #run(action: string, ...args: string[]): void {
    execFileSync('bash', [script, action, this.name, ...args], { stdio: ['ignore', 'ignore', 'inherit'] });
  }
}
