import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runTrainCommand } from '../command.ts';
import { type Peer, peersFolder } from '../compute/steppers.ts';
import { type Figure, figure, median } from '../figures.ts';

const project = join(import.meta.dirname, '..', 'projects', 'digits');
const rounds = 3;
const name = 'two CNNs at the same time, 2 epochs of 10,000 images, command to end';

/** Two small networks in parallel on two cores, in alternation with the same job in PyTorch. */
export async function measureDigits(peer: Peer | null, note: (message: string) => void): Promise<Figure[]> {
  if (peer === null) note('no python3 here has torch: nothing is compared with PyTorch');
  await runTrainCommand([project, '--max-steps', '2']);
  const oursMs: number[] = [];
  const peerMs: number[] = [];
  for (let round = 0; round < rounds; round++) {
    oursMs.push((await runTrainCommand([project, '--devices', 'cpu:0,1'])).durationMs);
    if (peer !== null) peerMs.push(await runPeer(peer));
  }
  const of = (value: number, unit: string, target: number | null): Figure =>
    figure({ suite: 'strategies', name, value, unit, better: 'lower', target });
  const own = of(median(oursMs) / 1000, 's', null);
  if (peer === null) return [own];
  const ratio = of(median(oursMs.map((ms, round) => ms / peerMs[round])), 'x PyTorch', 1);
  return [own, { ...ratio, peer: { name: `PyTorch ${peer.version}, s`, value: median(peerMs) / 1000 } }];
}

/** Time from the start of Python until the weights are on disk, in ms. */
async function runPeer({ python }: Peer): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'tutti-bench-'));
  try {
    const startMs = performance.now();
    const { status, stderr } = spawnSync(python, [join(peersFolder, 'digits.py'), '2', join(folder, 'weights')], {
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`digits.py ended with exit code ${status}:\n${stderr}`);
    return performance.now() - startMs;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
