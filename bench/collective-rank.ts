import { dirname } from 'node:path';
import { connect } from '../workers/collectives/socket-channel.ts';
import { ProcessGroup } from '../workers/collectives/process-group.ts';
import { sharedMemoryIn } from '../workers/collectives/memory/shared-memory.ts';

/** The process of one rank of the collectives suite: `node collective-rank.ts <socket> <rank> <world size> <mapped|files>`. */

export interface CollectiveCase {
  name: 'all-gather 8 KB' | 'all-reduce 1 MB' | 'all-reduce 40 MB';
  operation: 'all-gather' | 'all-reduce';
  bytes: number;
  repeats: number;
}

/** As in `bench/peers/collectives.py`. */
const cases: CollectiveCase[] = [
  { name: 'all-gather 8 KB', operation: 'all-gather', bytes: 8192, repeats: 400 },
  { name: 'all-reduce 1 MB', operation: 'all-reduce', bytes: 2 ** 20, repeats: 100 },
  { name: 'all-reduce 40 MB', operation: 'all-reduce', bytes: 40 * 2 ** 20, repeats: 8 },
];

const [socket, rank, worldSize, way] = process.argv.slice(2);
const channel = await connect(socket, 10_000);
const ranks = Array.from({ length: Number(worldSize) }, (_, index) => index);
const memory = sharedMemoryIn(dirname(socket), Number(rank), ranks, { mayMap: way === 'mapped' });
const group = new ProcessGroup(Number(rank), ranks, channel, memory);
channel.onFrame((frame) => {
  if (frame.kind === 'collective') group.receive(frame);
});
channel.onClose((error) => group.fail(error ?? new Error('the hub closed the connection')));
channel.send({ kind: 'message', message: { rank: group.rank }, arrays: [] });

await group.mapSlots();
for (const { name, operation, bytes, repeats } of cases) {
  // Zeros, which sums do not change: results are written in place, as in PyTorch.
  const array = new Float32Array(bytes / 4);
  const gathered = new Float32Array(operation === 'all-gather' ? array.length * ranks.length : 0);
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
  channel.send({ kind: 'message', message: { name }, arrays: [durationsMs] });
}
await group.barrier();
channel.close();
