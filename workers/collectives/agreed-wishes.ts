import { noWishes, uniteWishes, type Wishes } from '../../core/protocol/wire/collectives.ts';

/** What all ranks wished, up to a collective that is marked: the same on every rank that has marked the same one. */
export class AgreedWishes {
  /** Sequence number of the marked collective. */
  marked = 0;
  #newest: Wishes = noWishes;
  #agreed: Wishes = noWishes;

  get agreed(): Wishes {
    return this.#agreed;
  }

  mark(sequence: number): void {
    this.marked = sequence;
    this.#agreed = this.#newest;
  }

  /** Takes what a collective brought back. Ranks' wishes only grow, so it does not matter which of two answers comes first. */
  hear(wishes: Wishes, sequence: number): void {
    this.#newest = uniteWishes([this.#newest, wishes]);
    if (sequence <= this.marked) this.#agreed = uniteWishes([this.#agreed, wishes]);
  }
}
