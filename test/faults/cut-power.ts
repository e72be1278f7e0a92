import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Survival } from './disk-journal.ts';
import { type Fault, FaultyDisk } from './faulty-disk.ts';
import { listing, type Operation } from './operations.ts';

/** How often faults were injected into an operation, and what was there afterwards. */
export interface Outcome {
  calls: number;
  powerCuts: number;
  errors: number;
  old: number;
  new: number;
}

export interface Faults {
  /** Draws of what survives at each point, beside the five fixed ones. */
  draws: number;
  /** What happens at each call, one after the other. */
  errors: readonly Fault[];
  /** Uniform in [0, 1). */
  random: () => number;
}

/** A folder in memory where there is one, because the model of the disk decides what survives. */
async function withFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'tutti-faults-'));
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Runs an operation on a disk that works, cuts the power before each of its calls and after the last, and reads back
 * what is left.
 */
export async function cutPower(operation: Operation, { draws, random }: Faults, outcome: Outcome): Promise<void> {
  await withFolder(async (folder) => {
    await operation.prepare(folder);
    const disk = FaultyDisk.install(folder);
    await operation.run(folder).finally(() => disk.remove());
    outcome.calls += disk.calls.length;
    for (let point = 0; point <= disk.calls.length; point += 1) {
      const isOver = point === disk.calls.length;
      // A call that only reads changes nothing for the next point.
      if (!isOver && point > 0 && !disk.calls[point - 1].isWrite) continue;
      for (const [name, survival] of survivals(draws, random)) {
        outcome.powerCuts += 1;
        await withFolder(async (left) => {
          disk.journal.restore(point, survival, left);
          const where = `${operation.name}: power cut before call ${point} of ${disk.calls.length}, ${name}`;
          const found = await readBack(operation, left, where);
          if (isOver && found === 'old')
            throw new Error(`${where}: what was saved is lost. Left: ${await listing(left)}`);
          outcome[found] += 1;
          if (found === 'new') return;
          await operation.run(left);
          if ((await readBack(operation, left, where)) !== 'new') throw new Error(`${where}: cannot be repeated.`);
        });
      }
    }
  });
}

/** Lets each call of an operation fail in turn, reads back, and repeats the operation on a disk that works. */
export async function failCalls(operation: Operation, { errors }: Faults, outcome: Outcome): Promise<void> {
  let calls = Infinity;
  for (let index = 0; index < calls; index += 1) {
    for (const fault of errors) {
      await withFolder(async (folder) => {
        await operation.prepare(folder);
        const disk = FaultyDisk.install(folder);
        disk.fault = (_call, at) => (at === index ? fault : null);
        const error = await operation.run(folder).then(
          () => null,
          (reason: unknown) => reason,
        );
        disk.remove();
        if (disk.calls.length <= index) {
          calls = index;
          return;
        }
        outcome.errors += 1;
        const { name, path } = disk.calls[index];
        const where = `${operation.name}: ${JSON.stringify(fault)} at call ${index} (${name} ${path.slice(folder.length)})`;
        const found = await readBack(operation, folder, where);
        if (error === null && found === 'old') throw new Error(`${where}: it reported success, but wrote nothing.`);
        outcome[found] += 1;
        if (found === 'new') return;
        await operation.run(folder);
        if ((await readBack(operation, folder, where)) !== 'new') throw new Error(`${where}: cannot be repeated.`);
      });
    }
  }
}

async function readBack(operation: Operation, folder: string, where: string): Promise<'old' | 'new'> {
  try {
    return await operation.read(folder);
  } catch (error) {
    throw new Error(`${where}: ${String(error)} Left: ${await listing(folder)}`, { cause: error });
  }
}

function survivals(draws: number, random: () => number): [string, Survival][] {
  const whole = (last: number) => ({ index: last, damage: 'none' as const });
  const flushed = () => ({ index: 0, damage: 'none' as const });
  const drawn = (): Survival => {
    const names = new Map<number, boolean>();
    return {
      keepsName: (change) => {
        const keeps = names.get(change) ?? random() < 0.5;
        names.set(change, keeps);
        return keeps;
      },
      version: (last) => ({
        index: Math.floor(random() * (last + 1)),
        damage: (['none', 'torn', 'zeros'] as const)[Math.floor(random() * 3)],
      }),
    };
  };
  return [
    ['everything survives', { keepsName: () => true, version: whole }],
    ['nothing survives that was not flushed', { keepsName: () => false, version: flushed }],
    ['names survive, data do not', { keepsName: () => true, version: flushed }],
    ['names and lengths survive', { keepsName: () => true, version: (last) => ({ index: last, damage: 'zeros' }) }],
    ['data survive, names do not', { keepsName: () => false, version: whole }],
    ...Array.from({ length: draws }, (_, i): [string, Survival] => [`draw ${i}`, drawn()]),
  ];
}
