import type { ProcessGroup } from '../../workers/collectives/process-group.ts';

interface CollectiveCase {
  name: 'all-gather 8 KB' | 'all-reduce 1 MB' | 'all-reduce 40 MB';
  operation: 'all-gather' | 'all-reduce';
  bytes: number;
  repeats: number;
}

/** As in `bench/peers/collective_cases.py`. */
const cases: CollectiveCase[] = [
  { name: 'all-gather 8 KB', operation: 'all-gather', bytes: 8192, repeats: 2000 },
  { name: 'all-reduce 1 MB', operation: 'all-reduce', bytes: 2 ** 20, repeats: 100 },
  { name: 'all-reduce 40 MB', operation: 'all-reduce', bytes: 40 * 2 ** 20, repeats: 8 },
];

/**
 * Makes the calls of all cases, on every rank of a group.
 * @param tell takes the time that this rank waited for each call of a case
 */
export async function timeCases(
  group: ProcessGroup,
  tell: (name: string, durationsMs: Float64Array<ArrayBuffer>) => void,
): Promise<void> {
  for (const { name, operation, bytes, repeats } of cases) {
    // Zeros, which sums do not change: results are written in place, as by the peers.
    const array = new Float32Array(bytes / 4);
    const gathered = new Float32Array(operation === 'all-gather' ? array.length * group.worldSize : 0);
    const call = async (): Promise<unknown> =>
      operation === 'all-gather'
        ? await group.allGather(array, [array.length], gathered)
        : await group.allReduce(array, 'sum', array);
    for (let warmUp = 0; warmUp < repeats / 4; warmUp += 1) await call();
    const durationsMs = new Float64Array(repeats);
    for (let repeat = 0; repeat < repeats; repeat += 1) {
      const start = performance.now();
      await call();
      durationsMs[repeat] = performance.now() - start;
    }
    tell(name, durationsMs);
  }
}
