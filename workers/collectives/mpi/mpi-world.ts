import { readSync, writeSync } from 'node:fs';
import { Pieces } from '../memory/pieces.ts';
import type { LargeArrays } from '../memory/slot-exchange.ts';
import { Communicator } from './communicator.ts';
import { MpiLibrary } from './library.ts';
import { MpiMessages } from './mpi-messages.ts';
import { MpiSlots } from './mpi-slots.ts';
import { NodeLayout } from './node-layout.ts';
import { NodeMemory } from './node-memory.ts';
import { Requests } from './requests.ts';
import { Transfers } from './transfers.ts';
import { nodeMemoryBytes, TwoLevelArrays } from './two-level-arrays.ts';
import { waitFor } from './wait.ts';
import { mpiOfLauncher } from '../../../core/launch/launcher.ts';
import { CollectiveError } from '../../../core/protocol/wire/collectives.ts';

/** Larger arrays travel alone. With more, TCP of Open MPI asks first. */
const slotBytes = 64_000;

/** Settings of the libraries, by their variables, where the user has made no others. */
const settings = {
  // Copies between processes by the kernel, which refuses them to confined workers and in containers.
  OMPI_MCA_btl_vader_single_copy_mechanism: 'none',
  OMPI_MCA_mpi_yield_when_idle: '1',
  // UCX, below MPICH, looks into the other process's files in /proc before it shares memory with it, which are closed
  // to confined workers.
  UCX_TLS: '^shm',
};

/** How a group's ranks reach each other by MPI. */
export interface MpiGroup {
  slots: MpiSlots;
  large: LargeArrays;
  messages: MpiMessages;
}

/**
 * The processes that a launcher of MPI has started together. A process can enter it once, and only its main thread
 * calls it.
 */
export class MpiWorld {
  readonly library: MpiLibrary;
  readonly #world: Communicator;
  readonly #memories: NodeMemory[] = [];
  readonly #messages: MpiMessages[] = [];

  /**
   * Enters the world: waits until all of its processes do so.
   * @param size how many the launcher has started
   * @throws Error without a library, or if the library does not belong to the launcher
   */
  static async enter(size: number): Promise<MpiWorld> {
    for (const [name, value] of Object.entries(settings)) process.env[name] ??= value;
    const library = await MpiLibrary.open();
    library.readInt('MPI_Init_thread', 0, 0, library.table.funneled);
    return new MpiWorld(library, size);
  }

  private constructor(library: MpiLibrary, size: number) {
    this.library = library;
    this.#world = new Communicator(library, library.table.world);
    if (this.#world.size === size) return;
    throw new Error(
      `${library.version()} (${library.file}) found ${this.#world.size} processes, but the launcher started ` +
        `${size}: the library is of another MPI than the launcher. Use the mpirun or srun plug-in of this library, ` +
        'or set TUTTI_MPI_LIBRARY to that of the launcher.',
    );
  }

  /** `Open MPI v4.1.4, 8 processes` */
  get description(): string {
    return `${this.library.version()}, ${this.#world.size} processes`;
  }

  /**
   * Connects the ranks of a group. Every process of the world must call it, each with the group that it belongs to.
   * @param rank of this process, one of `ranks`
   * @param ranks of its group, ascending
   * @param node a number of its node: ranks with different numbers share no memory, even if they could
   */
  async connect(rank: number, ranks: readonly number[], node = 0): Promise<MpiGroup> {
    const group = this.#world.split(ranks[0], rank);
    if (group.size !== ranks.length || group.rank !== ranks.indexOf(rank)) {
      throw new Error(
        `MPI connected ${group.size} processes with rank ${rank} at position ${group.rank}; the group is ranks ` +
          `${ranks.join(', ')}. Each process of the launcher must be one rank.`,
      );
    }
    const messages = new MpiMessages(this.library, group.split(0, group.rank), ranks);
    this.#messages.push(messages);
    return {
      slots: new MpiSlots(this.library, group, slotBytes),
      large: await this.#connectLarge(group, ranks, node),
      messages,
    };
  }

  async #connectLarge(group: Communicator, ranks: readonly number[], node: number): Promise<LargeArrays> {
    const { library } = this;
    const forLarge = group.split(0, group.rank);
    const onNode = group.splitByNode().split(node, group.rank);
    const [leader] = onNode.gather(group.rank);
    const layout = new NodeLayout(group.rank, group.gather(leader));
    const transfers = new Transfers(library, forLarge);
    const memory = NodeMemory.create(library, onNode, nodeMemoryBytes(onNode.size));
    this.#memories.push(memory);
    const pieces = await Pieces.create(ranks.length);
    return new TwoLevelArrays({ rank: group.rank, ranks, layout, memory, transfers, pieces });
  }

  /**
   * Leaves the world: waits until all of its processes do so. A process that ends without it ends the job of Open MPI.
   */
  async leave(): Promise<void> {
    for (const messages of this.#messages) messages.close();
    const hydra = Hydra.find();
    if (hydra === null) {
      for (const memory of this.#memories) memory.free();
      this.library.call('MPI_Finalize');
      return;
    }
    // The first barrier also makes connections, so that nothing of the second waits for the progress of a rank that has
    // passed it.
    await this.#barrier();
    await this.#barrier();
    hydra.leave();
  }

  /** Lets the event loop turn, which ends this process if its hub dies. */
  async #barrier(): Promise<void> {
    const requests = new Requests(this.library, 1);
    this.#world.barrier(requests);
    await waitFor(
      this.library,
      () => requests.areDone(),
      () => undefined,
    );
  }

  /** Ends all processes of the job at once. */
  abort(): void {
    this.#world.abort(1);
  }
}

/**
 * The last calls to hydra, the launcher of MPICH, by its wire protocol PMI-1. `MPI_Finalize` of MPICH before 4.2 over
 * UCX deadlocks if no memory is shared: a rank waits for the progress of others, which already wait in PMI's barrier
 * (pmodels/mpich pull request 6596).
 */
class Hydra {
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
