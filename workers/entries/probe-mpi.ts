import type { MpiReply } from '../../core/launch/launcher.ts';
import { messageOf } from '../../core/text/errors.ts';
import { MpiLibrary } from '../collectives/mpi/library.ts';
import { replyToHub } from '../session/hub-link.ts';

/**
 * Entry of a short process that finds the library of MPI, without entering MPI. Started by
 * `src-main/cli/launched.ts`.
 */

async function probe(): Promise<MpiReply> {
  try {
    return { kind: 'found', library: (await MpiLibrary.open()).version() };
  } catch (error) {
    return { kind: 'failed', reason: messageOf(error) };
  }
}

replyToHub(await probe());
