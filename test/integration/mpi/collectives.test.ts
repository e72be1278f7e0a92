import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { createInMemoryGroup, ranksOf } from '../../unit/relay/in-memory-group.ts';
import { noMpich, noOpenMpi } from '../../environment/mpi.ts';
import { notRun } from '../../environment/reasons.ts';
import { makeCalls } from './calls.ts';
import { launch, type Launcher } from './launch.ts';

const script = join(import.meta.dirname, 'rank.ts');
const resultSchema = z.object({
  library: z.string(),
  values: z.record(z.string(), z.array(z.number()).nullable()),
  lines: z.array(z.string()),
});
type Result = z.output<typeof resultSchema>;

async function resultsOf(launcher: Launcher, nodes: string): Promise<Result[]> {
  const folder = await mkdtemp(join(tmpdir(), 'tutti-mpi-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const count = nodes.length;
  expect(await launch(launcher, count, [script, folder, nodes])).toEqual({ code: 0, signal: null, output: '' });
  const files = ranksOf(count).map((rank) => readFile(join(folder, `${rank}.json`), 'utf8'));
  return (await Promise.all(files)).map((text) => resultSchema.parse(JSON.parse(text)));
}

describe.each([
  { launcher: 'Open MPI', nodes: '0123', what: '4 nodes with a rank each', obstacle: noOpenMpi },
  { launcher: 'Open MPI', nodes: '01001', what: '3 and 2 ranks of two nodes, in turns', obstacle: noOpenMpi },
  { launcher: 'MPICH', nodes: '000', what: '3 ranks of one node', obstacle: noMpich },
  { launcher: 'MPICH', nodes: '012', what: '3 nodes with a rank each', obstacle: noMpich },
] as const)('$launcher, $what,', ({ launcher, nodes, obstacle }) => {
  const count = nodes.length;

  it.skipIf(obstacle !== null)(`get the values by hand, and the bits of the relay${notRun(obstacle)}`, async () => {
    const { groups } = createInMemoryGroup(ranksOf(count));
    const relayed = await Promise.all(groups.map(makeCalls));
    const results = await resultsOf(launcher, nodes);
    const sum = ranksOf(count).reduce((total, rank) => total + rank, 0);
    for (const [rank, { library, values, lines }] of results.entries()) {
      expect(library).toMatch(new RegExp(`^${launcher} v?[\\d.]+, ${count} processes$`));
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
  });
});
