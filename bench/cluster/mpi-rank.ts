import { MpiWorld } from '../../workers/collectives/mpi/mpi-world.ts';
import { ProcessGroup } from '../../workers/collectives/process-group.ts';

/** One rank of the cluster suite, started by mpirun. Rank 0 prints a line for each case of `bench/peers/mpi.py`. */

const cases = [
  { name: 'all-gather 8 KB', operation: 'all-gather', bytes: 8192, repeats: 400 },
  { name: 'all-reduce 40 MB', operation: 'all-reduce', bytes: 40 * 2 ** 20, repeats: 8 },
] as const;

const [rank, size] = [Number(process.env.OMPI_COMM_WORLD_RANK), Number(process.env.OMPI_COMM_WORLD_SIZE)];
const ranks = Array.from({ length: size }, (_, index) => index);
const world = await MpiWorld.enter(size);
const group = new ProcessGroup(rank, ranks, { send: () => undefined });
group.useMpi(await world.connect(rank, ranks));
for (const { name, operation, bytes, repeats } of cases) {
  // Zeros, which sums do not change: results are written in place, as in the peer.
  const array = new Float32Array(bytes / 4);
  const gathered = new Float32Array(operation === 'all-gather' ? array.length * size : 0);
  const call = async (): Promise<unknown> =>
    operation === 'all-gather'
      ? await group.allGather(array, [array.length], gathered)
      : await group.allReduce(array, 'sum', array);
  for (let warmUp = 0; warmUp < repeats / 4; warmUp += 1) await call();
  const durationsMs: number[] = [];
  for (let repeat = 0; repeat < repeats; repeat += 1) {
    const start = performance.now();
    await call();
    durationsMs.push(performance.now() - start);
  }
  if (rank === 0) console.log(JSON.stringify({ name, durationsMs }));
}
await group.barrier();
world.leave();
