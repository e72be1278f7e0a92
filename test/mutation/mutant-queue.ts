import type { Mutant } from './draw.ts';
import type { MutantResult } from './report/report.ts';

/** Hands out the mutants of one area in order, until the wanted number has been judged. */
export class MutantQueue {
  readonly #mutants: readonly Mutant[];
  readonly #wanted: number;
  readonly #known: ReadonlyMap<string, MutantResult>;
  readonly #results = new Map<string, MutantResult>();
  #next = 0;
  #underWay = 0;

  /** @param known results of the same changes in an earlier run, by name, which are not tried again */
  constructor(mutants: readonly Mutant[], wanted: number, known: ReadonlyMap<string, MutantResult>) {
    this.#mutants = mutants;
    this.#wanted = wanted;
    this.#known = known;
  }

  /** @returns null if no other mutant is needed now; one that cannot be judged may require another */
  take(): Mutant | null {
    while (this.#next < this.#mutants.length && this.#judged() + this.#underWay < this.#wanted) {
      const mutant = this.#mutants[this.#next++];
      const known = this.#known.get(mutant.name);
      if (known === undefined) {
        this.#underWay++;
        return mutant;
      }
      this.#results.set(mutant.name, known);
    }
    return null;
  }

  finish(result: MutantResult): void {
    this.#underWay--;
    this.#results.set(result.name, result);
  }

  /** In the order of the mutants. */
  results(): MutantResult[] {
    return this.#mutants.flatMap(({ name }) => this.#results.get(name) ?? []);
  }

  #judged(): number {
    return [...this.#results.values()].filter(({ outcome }) => outcome !== 'void').length;
  }
}
