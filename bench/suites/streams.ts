import { execFile } from 'node:child_process';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { type Figure, figure, type Suite } from '../figures.ts';

const run = promisify(execFile);
const program = join(import.meta.dirname, '..', 'streams', 'train.ts');
const shards = 8;
const shardBytes = 28 * 28 * 2 ** 18;
const steps = 600;

const measuredSchema = z.object({ stepMs: z.number(), waitingShare: z.number(), residentBytes: z.number() });

/** A small CNN on samples that stay on disk, next to the same training in memory. */
export const suite: Suite = {
  name: 'streams',
  async run(note) {
    const folder = await mkdtemp(join(tmpdir(), 'tutti-streams-'));
    try {
      note(`writing ${shards} shards of ${Math.round(shardBytes / 2 ** 20)} MiB`);
      for (let shard = 0; shard < shards; shard++) await writeShard(join(folder, `${shard}.bin`), shard);
      note('from disk');
      const disk = await measure(folder, 'disk');
      note('in memory');
      const memory = await measure(folder, 'memory');
      return figuresOf(disk, memory);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};

type Measured = z.output<typeof measuredSchema>;

function figuresOf(disk: Measured, memory: Measured): Figure[] {
  const of = (name: string, value: number, unit: string, target: number | null): Figure =>
    figure({ suite: 'streams', name, value, unit, better: 'lower', target });
  const dataMiB = (shards * shardBytes) / 2 ** 20;
  return [
    of('data on disk', dataMiB, 'MiB', null),
    of('resident memory, data on disk', disk.residentBytes / 2 ** 20, 'MiB', 400),
    of('resident memory, 10,000 samples in memory', memory.residentBytes / 2 ** 20, 'MiB', null),
    of('step of a small CNN, data on disk', disk.stepMs, 'ms', null),
    of('step of a small CNN, in memory', memory.stepMs, 'ms', null),
    of('step from disk over in memory', disk.stepMs / memory.stepMs, 'x', null),
    of('share of a step that waits for its batch', 100 * disk.waitingShare, '%', 10),
  ];
}

async function measure(folder: string, place: 'disk' | 'memory'): Promise<Measured> {
  const flags = ['--disable-warning=ExperimentalWarning', program, folder, place, String(steps)];
  const { stdout } = await run(process.execPath, flags);
  return measuredSchema.parse(JSON.parse(stdout.trim().split('\n').at(-1) ?? ''));
}

async function writeShard(file: string, shard: number): Promise<void> {
  const handle = await open(file, 'w');
  try {
    const part = Uint8Array.from({ length: shardBytes / 64 }, (_, i) => (i * 31 + shard) % 251);
    for (let i = 0; i < 64; i++) await handle.write(part);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
