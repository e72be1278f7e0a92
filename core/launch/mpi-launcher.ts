import { z } from 'zod';
import type { Variables } from './launcher.ts';

/**
 * The MPI whose launcher has started this process, as the library that it enters MPI with must find it: by PMIx (Open
 * MPI), or by the descriptor of hydra (MPICH and its relatives). Null where no launcher of MPI has.
 */
export function mpiOfLauncher(env: Variables): 'Open MPI' | 'MPICH' | null {
  if (env.PMIX_RANK !== undefined && env.PMIX_NAMESPACE !== undefined) return 'Open MPI';
  const isOfHydra = env.PMI_FD !== undefined && env.MPI_LOCALNRANKS !== undefined;
  return isOfHydra && env.PMI_RANK !== undefined ? 'MPICH' : null;
}

/** What `workers/entries/probe-mpi.ts` answers. */
export const mpiReplySchema = z.discriminatedUnion('kind', [
  /** Name and version of the library: `Open MPI v4.1.4`. */
  z.strictObject({ kind: z.literal('found'), library: z.string() }),
  z.strictObject({ kind: z.literal('failed'), reason: z.string() }),
]);
export type MpiReply = z.output<typeof mpiReplySchema>;

/**
 * Why a process cannot enter the MPI of its launcher with the library that it finds; the end of a sentence. Null if it
 * can.
 */
export function whyNotOfLauncher(mpi: 'Open MPI' | 'MPICH', reply: MpiReply): string | null {
  if (reply.kind === 'failed') return `it cannot use MPI: ${reply.reason.replace(/\.$/, '')}`;
  const isOpenMpi = reply.library.startsWith('Open MPI');
  return isOpenMpi === (mpi === 'Open MPI') ? null : `its library is ${reply.library}, and its launcher that of ${mpi}`;
}
