import { mpiOfLauncher, mpiReplySchema, whyNotOfLauncher } from '../../core/launch/mpi-launcher.ts';
import { messageOf } from '../../core/text/errors.ts';
import { askProcess } from '../processes/ask-process.ts';
import { probeMpiEntry } from '../processes/node-process.ts';

/** A shared file system is slow when many tasks read it at the same time. */
const timeoutMs = 60_000;

/** Why the workers of this task cannot exchange arrays by MPI; the end of a sentence. Null if they can. */
export async function whyNoMpi(): Promise<string | null> {
  const mpi = mpiOfLauncher(process.env);
  if (mpi === null) return 'no launcher of MPI has started it';
  try {
    const subject = 'MPI could not be looked for';
    const reply = await askProcess({ entry: probeMpiEntry, args: [], grant: null, timeoutMs, subject });
    return whyNotOfLauncher(mpi, mpiReplySchema.parse(reply));
  } catch (error) {
    return messageOf(error);
  }
}
