import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { z } from 'zod';
import { createInMemoryGroup, ranksOf } from '../../unit/relay/in-memory-group.ts';
import { makeCalls } from './calls.ts';

const script = join(import.meta.dirname, 'rank.ts');
const resultSchema = z.object({
  library: z.string(),
  values: z.record(z.string(), z.array(z.number()).nullable()),
  lines: z.array(z.string()),
});

/**
 * Expects that ranks get, from all collectives, the values by hand and the bits of the relay.
 * @param library how its name and version begin
 * @param nodes a digit for each rank, its node
 * @param run runs a script of Node in a process for each rank, to its end
 */
export async function expectCollectives(
  library: string,
  nodes: string,
  run: (script: readonly string[]) => Promise<void>,
): Promise<void> {
  const count = nodes.length;
  const folder = await mkdtemp(join(tmpdir(), 'tutti-mpi-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const { groups } = createInMemoryGroup(ranksOf(count));
  const relayed = await Promise.all(groups.map(makeCalls));
  await run([script, folder, nodes]);
  const sum = ranksOf(count).reduce((total, rank) => total + rank, 0);
  for (const rank of ranksOf(count)) {
    const text = await readFile(join(folder, `${rank}.json`), 'utf8');
    const { library: used, values, lines } = resultSchema.parse(JSON.parse(text));
    expect(used).toMatch(new RegExp(`^${library}[ v\\d.]+, ${count} processes$`));
    expect(values).toEqual({
      sum: [sum, 10 * sum],
      mean: [Math.fround(sum / count), Math.fround((10 * sum) / count)],
      gathered: ranksOf(count).flatMap((other) => [other, 10 * other]),
      broadcast: [count - 1, 10 * (count - 1)],
      scattered: [sum],
      shifted: rank === count - 1 ? null : [rank + 1, 10 * (rank + 1)],
    });
    expect(lines).toEqual(relayed[rank]);
  }
}
