import { noSignals, mergeSignals, type ControlSignals } from '../../core/protocol/wire/collectives.ts';

/** The signals of all ranks up to a marked collective: the same on every rank that has marked the same one. */
export class AgreedSignals {
  /** Sequence number of the marked collective. */
  marked = 0;
  #newest: ControlSignals = noSignals;
  #agreed: ControlSignals = noSignals;

  get agreed(): ControlSignals {
    return this.#agreed;
  }

  mark(sequence: number): void {
    this.marked = sequence;
    this.#agreed = this.#newest;
  }

  /** Merges the signals that a collective returned. Signals only grow, so the order of answers does not matter. */
  merge(signals: ControlSignals, sequence: number): void {
    this.#newest = mergeSignals([this.#newest, signals]);
    if (sequence <= this.marked) this.#agreed = mergeSignals([this.#agreed, signals]);
  }
}
