import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { type Peer, peersFolder } from '../compute/steppers.ts';
import { type Durations, runRank } from './hub-group.ts';

const lineSchema = z.strictObject({ name: z.string(), durationsMs: z.array(z.number()) });

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
    const lines = printed
      .trimEnd()
      .split('\n')
      .map((line) => lineSchema.parse(JSON.parse(line)));
    return new Map(lines.map(({ name, durationsMs }) => [name, Float64Array.from(durationsMs)]));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
