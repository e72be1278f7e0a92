import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { z } from 'zod';
import type { Channel } from '../../core/protocol/wire/channel.ts';
import { Relay } from '../../src-main/relay/relay.ts';
import { listen } from '../../src-main/relay/socket-server.ts';
import { ScratchFolder } from '../../src-main/runs/workers/scratch.ts';

/** The transport of large arrays: mapped files, or files that are read and written. */
export type Way = 'mapped' | 'files';

/** Time that rank 0 waited for each call, by the case's name. */
export type Durations = Map<string, Float64Array>;

const script = join(import.meta.dirname, '..', 'collective-rank.ts');
const helloSchema = z.strictObject({ rank: z.int() });
const timingsSchema = z.strictObject({ name: z.string() });

/** Runs all cases with real processes, and a hub in this one. */
export async function measureOurs(worldSize: number, way: Way): Promise<Durations> {
  const scratch = await ScratchFolder.create();
  const socket = join(scratch.path, 'hub.sock');
  const server = await listen(socket);
  const durationsMs: Durations = new Map();
  try {
    const ranks = Array.from({ length: worldSize }, (_, rank) => rank);
    const relay = new Relay({
      ranks,
      describeRank: (rank) => `Rank ${rank} is a process of the benchmark.`,
      stepsOf: () => 0,
      timeoutMs: () => 60_000,
      onSlow: () => {},
      onBack: () => {},
      dropStuck: () => false,
      onStuck: () => {},
    });
    server.onConnection((channel) => serveRank(channel, relay, durationsMs));
    await Promise.all(
      ranks.map((rank) => runRank(process.execPath, [script, socket, String(rank), String(worldSize), way])),
    );
  } finally {
    await server.close();
    await scratch.remove();
  }
  return durationsMs;
}

function serveRank(channel: Channel, relay: Relay, durationsMs: Durations): void {
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

/** Runs a rank's process to its end. @returns its output @throws Error if it fails */
export async function runRank(command: string, args: readonly string[]): Promise<string> {
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, OMP_NUM_THREADS: '1' },
  });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${signal ?? `exit code ${code}`}.`);
  return printed;
}

const lineSchema = z.strictObject({ name: z.string(), durationsMs: z.array(z.number()) });

/** The lines that rank 0 prints, one for each case. */
export function parseDurations(printed: string): Durations {
  const lines = printed
    .trimEnd()
    .split('\n')
    .map((line) => lineSchema.parse(JSON.parse(line)));
  return new Map(lines.map(({ name, durationsMs }) => [name, Float64Array.from(durationsMs)]));
}
