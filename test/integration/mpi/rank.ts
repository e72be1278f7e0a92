import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MpiWorld } from '../../../workers/collectives/mpi/mpi-world.ts';
import { ProcessGroup } from '../../../workers/collectives/process-group.ts';
import { makeCalls, makeSmallCalls } from './calls.ts';

/**
 * One rank, started by mpirun: makes all calls and writes their results to `<folder>/<rank>.json`. `<nodes>` has a
 * digit for each rank, the node that it plays.
 */

const [folder, nodes] = process.argv.slice(2);
const { env } = process;
const rank = Number(env.OMPI_COMM_WORLD_RANK ?? env.PMI_RANK);
const size = Number(env.OMPI_COMM_WORLD_SIZE ?? env.PMI_SIZE);
const ranks = Array.from({ length: size }, (_, other) => other);

const world = await MpiWorld.enter(size);
const group = new ProcessGroup(rank, ranks, { send: () => undefined });
group.useMpi(await world.connect(rank, ranks, Number(nodes[rank])));
const values = await makeSmallCalls(group);
const lines = await makeCalls(group);
await writeFile(join(folder, `${rank}.json`), JSON.stringify({ library: world.description, values, lines }));
await world.leave();
