import { readSync, writeSync } from 'node:fs';
import { mpiOfLauncher } from '../../../core/launch/mpi-launcher.ts';
import { CollectiveError } from '../../../core/protocol/wire/collectives.ts';

/**
 * The last calls to hydra, the launcher of MPICH, by its wire protocol PMI-1. `MPI_Finalize` of MPICH before 4.2 over UCX deadlocks if
 * no memory is shared: a rank waits for the progress of others, which already wait in PMI's barrier (pmodels/mpich pull request 6596).
 */
export class Hydra {
  readonly #descriptor: number;

  private constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  /** Null if another launcher has started this process: SLURM also sets PMI_FD, and speaks PMI-2. */
  static find(): Hydra | null {
    return mpiOfLauncher(process.env) === 'MPICH' ? new Hydra(Number(process.env.PMI_FD)) : null;
  }

  /** Waits until all processes have called it; hydra then accepts that they end. */
  leave(): void {
    this.#call('barrier_in', 'barrier_out');
    this.#call('finalize', 'finalize_ack');
  }

  #call(command: string, expected: string): void {
    writeSync(this.#descriptor, `cmd=${command}\n`);
    const answer = this.#readLine();
    if (answer.split(' ').includes(`cmd=${expected}`)) return;
    throw new CollectiveError(`hydra answered "${answer}" to ${command}, not cmd=${expected}.`);
  }

  #readLine(): string {
    const byte = Buffer.alloc(1);
    let line = '';
    while (readSync(this.#descriptor, byte, 0, 1, null) === 1) {
      const letter = byte.toString('latin1');
      if (letter === '\n') break;
      line += letter;
    }
    return line;
  }
}
