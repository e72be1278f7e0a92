import { MpiWorld } from '../../workers/collectives/mpi/mpi-world.ts';
import { ProcessGroup } from '../../workers/collectives/process-group.ts';
import { timeCases } from './cases.ts';

/** The process of one rank of the cluster suite, started by mpirun. Rank 0 prints a line for each case. */

const rank = Number(process.env.OMPI_COMM_WORLD_RANK);
const ranks = Array.from({ length: Number(process.env.OMPI_COMM_WORLD_SIZE) }, (_, index) => index);

const world = await MpiWorld.enter(ranks.length);
const group = new ProcessGroup(rank, ranks, { send: () => undefined });
group.useMpi(await world.connect(rank, ranks));
await timeCases(group, (name, durationsMs) => {
  if (rank === 0) console.log(JSON.stringify({ name, durationsMs: [...durationsMs] }));
});
await world.leave();
