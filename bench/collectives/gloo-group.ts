import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Peer, peersFolder } from '../compute/steppers.ts';
import { type Durations, parseDurations, runRank } from './hub-group.ts';

/** The same cases with PyTorch's processes. */
export async function measureGloo({ python }: Peer, worldSize: number): Promise<Durations> {
  const folder = await mkdtemp(join(tmpdir(), 'tutti-bench-'));
  const script = join(peersFolder, 'collectives.py');
  try {
    const [printed] = await Promise.all(
      Array.from({ length: worldSize }, (_, rank) =>
        runRank(python, [script, join(folder, 'rendezvous'), String(rank), String(worldSize)]),
      ),
    );
    return parseDurations(printed);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
