import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runTrainCommand } from '../command.ts';
import { type Figure, figure, type Suite } from '../figures.ts';

const project = join(import.meta.dirname, '..', 'projects', 'deep');
const spread = ['--members', '4', '--devices', 'cpu:0,1', '--strategy', 'pipeline', '--strategy.micro-batches', '16'];
const alone = ['--members', '1', '--devices', 'cpu:0'];
const checkpointing = ['--activation-checkpointing', 'sqrt'];

/** Memory of the backend's heap, and resident memory of the process, of the rank that needs most. */
interface Memory {
  heapBytes: number;
  residentBytes: number;
}

/** Memory of training a deep network of 48 equal layers in one process, and in four that each hold a part of the layers. */
export const suite: Suite = {
  name: 'pipeline',
  async run(note) {
    const measure = async (what: string, args: readonly string[]): Promise<Memory> => {
      note(what);
      return await memoryOf(args);
    };
    note('a warm-up, which fills the cache of compiled code');
    await runTrainCommand([project, ...alone, '--layers', '2', '--max-steps', '1']);
    const one = await measure('one process', alone);
    const recomputed = await measure('one process, activations computed again', [...alone, ...checkpointing]);
    const four = await measure('four stages', spread);
    const both = await measure('four stages, activations computed again', [...spread, ...checkpointing]);
    const share = (name: string, of: Memory, target: number | null): Figure[] => [
      figureOf(`${name}, largest heap of the backend over one process`, of.heapBytes / one.heapBytes, 'x', target),
      figureOf(`${name}, largest resident memory over one process`, of.residentBytes / one.residentBytes, 'x', null),
    ];
    return [
      figureOf('one process, heap of the backend', one.heapBytes / 2 ** 20, 'MiB', null),
      figureOf('one process, resident memory', one.residentBytes / 2 ** 20, 'MiB', null),
      ...share('one process with activation checkpointing', recomputed, null),
      ...share('4 stages on two cores', four, 0.4),
      ...share('4 stages with activation checkpointing', both, 0.25),
    ];
  },
};

function figureOf(name: string, value: number, unit: string, target: number | null): Figure {
  return figure({ suite: 'pipeline', name, value, unit, better: 'lower', target });
}

/** Trains, and reads what the ranks wrote to their logs after each step. The heap never shrinks, so its last size is its peak. */
async function memoryOf(args: readonly string[]): Promise<Memory> {
  const folder = await mkdtemp(join(tmpdir(), 'tutti-bench-'));
  const run = join(folder, 'run');
  try {
    await runTrainCommand([project, ...args, '--out', run]);
    const memory: Memory = { heapBytes: 0, residentBytes: 0 };
    for (const name of await readdir(join(run, 'logs'))) {
      const text = await readFile(join(run, 'logs', name), 'utf8');
      for (const [, heap, resident] of text.matchAll(/heap of (\d+) bytes, resident (\d+) bytes/g)) {
        memory.heapBytes = Math.max(memory.heapBytes, Number(heap));
        memory.residentBytes = Math.max(memory.residentBytes, Number(resident));
      }
    }
    if (memory.heapBytes === 0) throw new Error(`No rank of ${run} wrote its memory to its log.`);
    return memory;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
