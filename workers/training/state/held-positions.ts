import type { ProcessGroup } from '../../collectives/process-group.ts';
import { releaseTensors } from '../../tensorflow/held-tensors.ts';
import { holdPosition, positionOf, type TrainingPosition, type TrainingToSave } from './snapshot.ts';

/** More bytes could not be written in the time that a rank has once its hub has died. */
const mostBytes = 256 * 2 ** 20;

/** A position before a step or a rendezvous. */
interface HeldPosition extends TrainingPosition {
  /** Counts the positions of this attempt from 1: the same position on all ranks. */
  number: number;
  /** Number of the group's collectives that came before it. */
  calls: number;
}

/**
 * The last positions of a rank in lockstep, for the death of its hub. A rank may get the last answer of a step that another does not get:
 * then the other can save only the position before that step, and this rank must still have it.
 *
 * An answer shows that all ranks have made the call, so all of them hold the newest position before the call. Older ones are released. All
 * ranks thus hold the newest position that precedes an answered call on any of them.
 */
export class HeldPositions {
  readonly #rank: TrainingToSave;
  readonly #group: ProcessGroup;
  #held: HeldPosition[] = [];
  #count = 0;
  /** Null until the first position. */
  #isTooLarge: boolean | null = null;

  constructor(rank: TrainingToSave, group: ProcessGroup) {
    this.#rank = rank;
    this.#group = group;
    group.onAnswer = (sequence) => this.#releaseBefore(sequence);
  }

  /** The oldest first. */
  get all(): readonly HeldPosition[] {
    return this.#held;
  }

  /**
   * Call it before each step, on every rank. Between two exchanges ranks take their steps independently, so that only the first of these
   * positions is common to all.
   */
  holdStep(): void {
    if (this.#held.at(-1)?.calls !== this.#group.statistics.count) this.hold();
  }

  /** Call it at the same position on every rank. */
  hold(): void {
    if (this.#cannotBeHeld()) return;
    this.#count += 1;
    const { count: calls } = this.#group.statistics;
    this.#held.push({ ...holdPosition(this.#rank), number: this.#count, calls });
  }

  release(): void {
    for (const { tensors } of this.#held.splice(0)) releaseTensors(tensors);
  }

  #releaseBefore(sequence: number): void {
    const newest = this.#held.findLastIndex(({ calls }) => calls < sequence);
    if (newest <= 0) return;
    for (const { tensors } of this.#held.splice(0, newest)) releaseTensors(tensors);
  }

  #cannotBeHeld(): boolean {
    // A step overwrites what lies in files.
    this.#isTooLarge ??= positionOf(this.#rank).files !== undefined || bytesOf(this.#rank) > mostBytes;
    return this.#isTooLarge;
  }
}

function bytesOf(rank: TrainingToSave): number {
  return [...positionOf(rank).tensors.values()].reduce((sum, { size }) => sum + 4 * size, 0);
}
