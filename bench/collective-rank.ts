import { dirname } from 'node:path';
import { connect } from '../workers/collectives/socket-channel.ts';
import { ProcessGroup } from '../workers/collectives/process-group.ts';
import { sharedMemoryIn } from '../workers/collectives/memory/shared-memory.ts';
import { timeCases } from './collectives/cases.ts';

/**
 * The process of one rank of the collectives suite:
 * `node collective-rank.ts <socket> <rank> <world size> <mapped|files>`.
 */

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
await timeCases(group, (name, durationsMs) => {
  channel.send({ kind: 'message', message: { name }, arrays: [durationsMs] });
});
await group.barrier();
channel.close();
