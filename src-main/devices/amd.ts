import { z } from 'zod';
import type { Device, Detected } from '../../core/protocol/machine/devices.ts';
import { explainFailure, type CommandRunner } from '../processes/command.ts';

const cardQuery = ['--showid', '--showproductname', '--showmeminfo', 'vram', '--showuse', '--json'];
/** `--showpids` only reports how many GPUs a process uses, and `--showpidgpus` prints nothing with `--json`. */
const processQuery = ['--showpidgpus'];

const cardsSchema = z.record(z.string(), z.record(z.string(), z.unknown()));
type Card = Record<string, unknown>;

/** AMD GPUs as `rocm-smi` lists them: `rocm:i` is its `card<i>`. */
export async function detectAmd(run: CommandRunner): Promise<Detected> {
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

/** The name is `Card series` in ROCm 5 and `Card Series` in ROCm 6. If it is N/A, `Device Name` or the model may have it. */
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
