import { spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Channel } from '../../protocol/channel.ts';
import { listen } from '../../src-main/relay/socket-server.ts';
import { createScratchFolder } from '../../src-main/runs/scratch.ts';
import { Relay } from '../../src-main/relay/relay.ts';
import { type Figure, figure, median, type Suite } from '../figures.ts';

/** Collectives between real processes through the hub; medians of what rank 0 waits for a call. */
export const suite: Suite = {
  name: 'collectives',
  async run(note) {
    const figures: Figure[] = [];
    for (const worldSize of [2, 4, 8]) {
      note(`${worldSize} ranks`);
      const durationsMs = await measure(worldSize);
      for (const { name, unit, perMs, target } of measures) {
        const value = median(durationsMs.get(name) ?? []) * perMs;
        figures.push(
          figure({
            suite: 'collectives',
            name: `${name}, ${worldSize} ranks, median`,
            value,
            unit,
            better: 'lower',
            target: worldSize === 2 ? target : null,
          }),
        );
      }
    }
    return figures;
  },
};

const measures = [
  { name: 'all-gather 8 KB', unit: 'µs', perMs: 1000, target: 150 },
  { name: 'all-reduce 1 MB', unit: 'ms', perMs: 1, target: 2 },
  { name: 'all-reduce 40 MB', unit: 'ms', perMs: 1, target: null },
];

const helloSchema = z.strictObject({ rank: z.int() });
const timingsSchema = z.strictObject({ name: z.string() });

/** Rank 0's durations by case. */
async function measure(worldSize: number): Promise<Map<string, Float64Array>> {
  const folder = await createScratchFolder();
  const socket = join(folder, 'hub.sock');
  const server = await listen(socket);
  const durationsMs = new Map<string, Float64Array>();
  try {
    const ranks = Array.from({ length: worldSize }, (_, rank) => rank);
    const relay = new Relay({
      ranks,
      describeRank: (rank) => `Rank ${rank} is a process of the benchmark.`,
      stepsOf: () => 0,
      timeoutMs: () => 60_000,
      onStuck: () => {},
    });
    server.onConnection((channel) => serveRank(channel, relay, durationsMs));
    await Promise.all(ranks.map(async (rank) => await runRank(socket, rank, worldSize)));
  } finally {
    await server.close();
    await rm(folder, { recursive: true });
  }
  return durationsMs;
}

function serveRank(channel: Channel, relay: Relay, durationsMs: Map<string, Float64Array>): void {
  let rank = -1;
  channel.onFrame((frame) => {
    if (frame.kind === 'collective') {
      relay.receive(rank, frame);
    } else if (rank === -1) {
      ({ rank } = helloSchema.parse(frame.message));
      relay.attach(rank, (answer) => channel.send(answer));
    } else if (rank === 0) {
      durationsMs.set(timingsSchema.parse(frame.message).name, Float64Array.from(frame.arrays[0]));
    }
  });
}

async function runRank(socket: string, rank: number, worldSize: number): Promise<void> {
  const script = join(import.meta.dirname, '..', 'collective-rank.ts');
  const child = spawn(process.execPath, [script, socket, String(rank), String(worldSize)], { stdio: 'inherit' });
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`Rank ${rank} ended with ${signal ?? `exit code ${code}`}.`));
    });
  });
}
