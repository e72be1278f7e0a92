import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runTrainCommand } from '../command.ts';
import { type Figure, figure, median } from '../figures.ts';
import { type Peer, peersFolder } from './steppers.ts';

const example = join(import.meta.dirname, '..', '..', 'examples', '00_heteroscedastic_regression');
const pairs = 3;
/** The published experiment, which the peer also runs. */
const published = ['--trained', '20', '--batch-size', '20', '--max-epochs', '10000', '--evaluate-every-epochs', '500'];

/**
 * Example 00 from the command to its end, with figures, next to the same job in PyTorch: 10,000 steps, one process per
 * member.
 */
export async function measureJob(members: number, peer: Peer | null): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), 'tutti-bench-'));
  try {
    const oursMs: number[] = [];
    const peerMs: number[] = [];
    for (let pair = 0; pair < pairs; pair++) {
      oursMs.push((await runTrainCommand([example, '--members', String(members), ...published])).durationMs);
      if (peer !== null) peerMs.push(runPeer(peer, members, join(folder, `${pair}.png`)));
    }
    return describe(members, oursMs, peerMs, peer);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** From the start of Python until the plot is on disk, in ms. */
function runPeer({ python }: Peer, members: number, plot: string): number {
  const startMs = performance.now();
  const script = join(peersFolder, 'heteroscedastic_regression.py');
  const { status, stderr } = spawnSync(python, [script, String(members), plot], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${script} ended with exit code ${status}:\n${stderr}`);
  return performance.now() - startMs;
}

function describe(members: number, oursMs: number[], peerMs: number[], peer: Peer | null): Figure[] {
  const name = `example 00, ${members} member${members === 1 ? '' : 's'}, start to plot`;
  const of = (value: number, unit: string, target: number | null): Figure =>
    figure({ suite: 'example', name, value, unit, better: 'lower', target });
  const own = of(median(oursMs) / 1000, 's', null);
  if (peer === null) return [own];
  const ratio = of(median(oursMs.map((ms, pair) => ms / peerMs[pair])), 'x PyTorch', 1);
  return [own, { ...ratio, peer: { name: `PyTorch ${peer.version}, s`, value: median(peerMs) / 1000 } }];
}
