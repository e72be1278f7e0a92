import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { commandRunner, type CommandRunner, explainFailure } from '../processes/command.ts';
import {
  type AdaptersReply,
  adaptersReplySchema,
  type Detected,
  type Device,
} from '../../core/protocol/machine/devices.ts';
import { detectCores, machineCores, type Cores } from './cores.ts';
import { detectNvidia } from './nvidia.ts';
import { type AdapterSources, detectWebgpu } from './webgpu.ts';
import { askProcess } from '../processes/standing-process.ts';
import { listAdaptersEntry } from '../processes/node-process.ts';
import { readWebgpuBuild, showOnly } from '../processes/native-build.ts';
import { z } from 'zod';

/** A GPU whose driver is not kept loaded takes seconds to answer the first query. */
const toolTimeoutMs = 15_000;

type DetectionOptions = {
  run?: CommandRunner;
  cores?: Cores;
  adapters?: AdapterSources;
  /** How long to watch the CPU cores for their load, in ms; 0 leaves it unmeasured. */
  coreLoadWindowMs?: number;
};

/**
 * All devices of this machine: NVIDIA GPUs, WebGPU adapters (the same GPUs, and others), AMD GPUs, then CPU cores. A
 * tool that is missing or fails only hides its GPUs, with a note in `notes`. It never makes detection fail.
 */
export async function detectDevices(options: DetectionOptions = {}): Promise<Detected> {
  const { run = commandRunner(toolTimeoutMs), cores = machineCores, coreLoadWindowMs = 0 } = options;
  const { adapters = machineAdapters } = options;
  const [nvidia, webgpu, amd, coreDevices] = await Promise.all([
    detectNvidia(run),
    detectWebgpu(adapters),
    detectAmd(run),
    detectCores(cores, coreLoadWindowMs),
  ]);
  return {
    devices: [...nvidia.devices, ...webgpu.devices, ...amd.devices, ...coreDevices],
    notes: [...nvidia.notes, ...webgpu.notes, ...amd.notes],
  };
}

/** Drivers of several GPUs may be loaded for the first time. */
const timeoutMs = 15_000;

/** Dawn's adapters, listed in a separate process, because a driver may end it. */
export const machineAdapters: AdapterSources = {
  async list(pciAddress) {
    try {
      if (readWebgpuBuild() === null) return null;
      const answer = await askProcess<AdaptersReply>({
        entry: listAdaptersEntry,
        args: [],
        grant: null,
        timeoutMs,
        subject: 'The WebGPU adapters could not be listed',
        environment: pciAddress === undefined ? {} : showOnly(pciAddress),
      });
      return adaptersReplySchema.parse(answer);
    } catch (error) {
      return { kind: 'failed', reason: error instanceof Error ? error.message : String(error) };
    }
  },

  async pciAddresses() {
    if (process.platform !== 'linux') return [];
    const folder = '/sys/bus/pci/devices';
    const addresses = (await readdir(folder)).toSorted();
    const classes = await Promise.all(addresses.map((address) => readFile(join(folder, address, 'class'), 'utf8')));
    // 0x03: display controllers, those without a display too.
    return addresses.filter((_, i) => classes[i].startsWith('0x03'));
  },
};

const cardQuery = ['--showid', '--showproductname', '--showmeminfo', 'vram', '--showuse', '--json'];
/** `--showpids` only reports how many GPUs a process uses, and `--showpidgpus` prints nothing with `--json`. */
const processQuery = ['--showpidgpus'];

const cardsSchema = z.record(z.string(), z.record(z.string(), z.unknown()));
type Card = Record<string, unknown>;

/** AMD GPUs as `rocm-smi` lists them: `rocm:i` is its `card<i>`. */
async function detectAmd(run: CommandRunner): Promise<Detected> {
  const result = await run('rocm-smi', cardQuery);
  if (result.status !== 'exited' || result.exitCode !== 0) {
    return { devices: [], notes: [`${explainFailure('rocm-smi', result)} AMD GPUs, if any, stay unused.`] };
  }
  const cards = readCards(result.stdout);
  if (cards === null) return { devices: [], notes: [`rocm-smi gave no readable JSON: "${excerpt(result.stdout)}".`] };
  const gpus = cards.flatMap(([key, card]) => parseCard(key, card) ?? []);
  if (gpus.length === 0) return { devices: [], notes: ['rocm-smi lists no AMD GPU.'] };
  const processes = await countProcesses(run);
  return {
    devices: gpus.map((gpu) => ({ ...gpu, processCount: processes.count(gpu.index) })),
    notes: processes.notes,
  };
}

/** Parses the text between the outermost braces, because some versions print warnings around the JSON. */
function readCards(stdout: string): [string, Card][] | null {
  const json = stdout.slice(stdout.indexOf('{'), stdout.lastIndexOf('}') + 1);
  try {
    return Object.entries(cardsSchema.parse(JSON.parse(json)));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof z.ZodError) return null;
    throw error;
  }
}

/** Null for the entry `system`, which is not a card. */
function parseCard(key: string, card: Card): Device | null {
  const index = /^card(\d+)$/.exec(key)?.[1];
  if (index === undefined) return null;
  return {
    id: `rocm:${index}`,
    kind: 'rocm',
    index: Number(index),
    name: readName(card),
    memoryTotalBytes: readNumber(card['VRAM Total Memory (B)'], 1),
    memoryUsedBytes: readNumber(card['VRAM Total Used Memory (B)'], 1),
    load: readNumber(card['GPU use (%)'], 1 / 100),
    processCount: null,
  };
}

/**
 * The name is `Card series` in ROCm 5 and `Card Series` in ROCm 6. If it is N/A, `Device Name` or the model may have
 * it.
 */
function readName(card: Card): string {
  const names = [card['Card Series'], card['Card series'], card['Device Name'], card['Card Model'], card['Card model']];
  const known = names.find((name) => typeof name === 'string' && name !== '' && name !== 'N/A');
  return typeof known === 'string' ? known : 'AMD GPU';
}

function readNumber(value: unknown, scale: number): number | null {
  return typeof value === 'string' && /^\d+(\.\d+)?$/.test(value) ? Number(value) * scale : null;
}

async function countProcesses(
  run: CommandRunner,
): Promise<{ count: (index: number) => number | null; notes: string[] }> {
  const result = await run('rocm-smi', processQuery);
  if (result.status !== 'exited' || result.exitCode !== 0) {
    const note = `${explainFailure('rocm-smi', result)} Other processes on the GPUs cannot be seen.`;
    return { count: () => null, notes: [note] };
  }
  const users = [...result.stdout.matchAll(/^PID \d+ is using \d+ DRM device\(s\):\n([\d \n]*)/gm)].map(
    ([, indices]) => new Set(indices.split(/\s+/).filter(Boolean).map(Number)),
  );
  return { count: (index) => users.filter((indices) => indices.has(index)).length, notes: [] };
}

function excerpt(text: string): string {
  return text.trim().slice(0, 120);
}
