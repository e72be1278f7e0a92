import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { z } from 'zod';
import { nodeFlags } from '../../src-main/processes/node-process.ts';
import { findPeer, type Peer } from '../compute/steppers.ts';
import { type Figure, figure, median, type Suite } from '../figures.ts';
import { type Server, startPeer, startTutti } from '../serving/servers.ts';
import { type NetworkName, networks, writeEnsemble } from '../serving/write-ensemble.ts';

const run = promisify(execFile);
const programs = join(import.meta.dirname, '..', 'serving');
const clientCounts = [1, 8, 32];
const [rounds, roundMs, warmUpMs] = [3, 2000, 1000];
const titles: Record<NetworkName, string> = {
  'small-mlp': '2 members 8-64-64-10',
  mlp: '8 members 784-256-256-10',
  cnn: '4 small CNNs',
};

/** Requests for one sample to `tutti serve`, beside the forward passes alone, and beside FastAPI with PyTorch. */
export const suite: Suite = {
  name: 'serve',
  async run(note) {
    const folder = await mkdtemp(join(tmpdir(), 'tutti-serve-'));
    const peer = findPeer();
    try {
      const figures: Figure[] = [];
      for (const network of Object.keys(networks) as NetworkName[]) {
        figures.push(...(await measureNetwork(await writeEnsemble(folder, network), network, peer, note)));
      }
      return figures;
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};

async function measureNetwork(
  folder: string,
  network: NetworkName,
  peer: Peer | null,
  note: (text: string) => void,
): Promise<Figure[]> {
  note(`${titles[network]}: forward passes`);
  const figures = await measureForward(folder, network);
  const servers = [
    await startTutti(folder, network, false),
    await startTutti(folder, network, true),
    ...(peer === null ? [] : [await startPeer(peer, network)]),
  ];
  try {
    for (const clients of clientCounts) {
      note(`${titles[network]}: ${clients} clients`);
      figures.push(...figuresOf(`${titles[network]}, ${clients} clients`, peer, await inTurns(servers, clients)));
    }
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
  return figures;
}

const forwardSchema = z.array(z.object({ forwardMs: z.number(), predictMs: z.number() }));

async function measureForward(folder: string, network: NetworkName): Promise<Figure[]> {
  const { stdout } = await run(process.execPath, [...nodeFlags, join(programs, 'forward.ts'), folder, network, '1000']);
  const measured = forwardSchema.parse(JSON.parse(stdout)).slice(200);
  const name = `${titles[network]}, in the process`;
  const of = (unit: string, value: number): Figure =>
    figure({ suite: 'serve', name, value, unit, better: 'lower', target: null });
  return [
    of('ms, forward passes', median(measured.map(({ forwardMs }) => forwardMs))),
    of('ms, prediction', median(measured.map(({ predictMs }) => predictMs))),
  ];
}

interface Load {
  p50Ms: number;
  p99Ms: number;
  perSecond: number;
}

/** The median round of each server. */
async function inTurns(servers: readonly Server[], clients: number): Promise<Load[]> {
  const measured = servers.map((): Load[] => []);
  for (let round = 0; round <= rounds; round++) {
    for (const [i, server] of servers.entries()) {
      const load = await loadOf(server, clients, round === 0 ? warmUpMs : roundMs);
      if (round > 0) measured[i].push(load);
    }
  }
  return measured.map((own) => {
    const middle = (key: keyof Load): number => median(own.map((load) => load[key]));
    return { p50Ms: middle('p50Ms'), p99Ms: middle('p99Ms'), perSecond: middle('perSecond') };
  });
}

const loadSchema = z.object({ elapsedMs: z.number(), latenciesMs: z.array(z.number()).min(1) });

async function loadOf({ url, headers, body }: Server, clients: number, durationMs: number): Promise<Load> {
  const args = [join(programs, 'clients.ts'), url, String(clients), String(durationMs), JSON.stringify(headers)];
  const child = spawn(process.execPath, [...nodeFlags, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(body);
  const { elapsedMs, latenciesMs } = loadSchema.parse(await json(child.stdout));
  const sorted = latenciesMs.sort((a, b) => a - b);
  const quantile = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))];
  return { p50Ms: quantile(0.5), p99Ms: quantile(0.99), perSecond: (1000 * sorted.length) / elapsedMs };
}

function figuresOf(name: string, peer: Peer | null, [text, binary, other]: readonly Load[]): Figure[] {
  const of = (unit: string, key: keyof Load, load: Load, isCompared: boolean): Figure =>
    figure({
      suite: 'serve',
      name: load === binary ? `${name}, binary tensors` : name,
      value: load[key],
      unit,
      better: key === 'perSecond' ? 'higher' : 'lower',
      target: null,
      ...(peer && isCompared && { peer: { name: `FastAPI, PyTorch ${peer.version}`, value: other[key] } }),
    });
  return [
    of('requests/s', 'perSecond', text, true),
    of('ms, median', 'p50Ms', text, true),
    of('ms, 99th percentile', 'p99Ms', text, true),
    of('requests/s', 'perSecond', binary, false),
    of('ms, 99th percentile', 'p99Ms', binary, false),
  ];
}
