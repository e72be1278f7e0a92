import type { ConfigProblem } from '../../../core/options/index.ts';
import { areTogether, type Setting, type Wishes } from './settings.ts';

/** Says why a run with these wishes is refused; empty: it is not. */
export type Refusals = (wishes: Wishes) => readonly ConfigProblem[];

/** Two settings whose runs are refused. */
export interface RefusedPair {
  /** The two, and what each needs beside itself. */
  wishes: Wishes;
  problems: readonly ConfigProblem[];
}

/** What a setting needs beside itself so that it is not refused: nothing, or another setting, or none that there is. */
interface Company {
  wishes: Wishes;
  problems: readonly ConfigProblem[];
}

/** The kinds that have the setting come first, with what these need. */
function companyOf(setting: Setting, all: readonly Setting[], refusals: Refusals): Company {
  const isKind = ({ path, value, kinds }: Setting): boolean => kinds[path] === value && setting.kinds[path] === value;
  const [kind] = all.filter((own) => own !== setting && isKind(own));
  const start = kind === undefined ? [setting] : union(companyOf(kind, all, refusals).wishes, [setting]);
  // A kind may need a setting that this one replaces.
  const own = areTogether(start) ? start : [setting];
  const problems = refusals(own);
  if (problems.length === 0) return { wishes: own, problems };
  for (const other of all) {
    const wishes = union(own, [other]);
    if (areTogether(wishes) && refusals(wishes).length === 0) return { wishes, problems: [] };
  }
  return { wishes: own, problems };
}

const union = (a: Wishes, b: Wishes): Wishes => [...new Set([...a, ...b])];

/**
 * A covering array of strength 2 (Cohen et al., 1997, "The AETG system", IEEE Transactions on Software Engineering).
 */
export class PairCover {
  /** Settings that are refused with whatever one other setting goes with them. */
  readonly never: readonly RefusedPair[];
  readonly refused: RefusedPair[] = [];
  readonly #refusals: Refusals;
  readonly #usable: readonly Setting[];
  readonly #places: ReadonlyMap<Setting, number>;
  readonly #companies: ReadonlyMap<Setting, Wishes>;
  /** Pairs that no run has yet, by their places. */
  readonly #open = new Map<string, readonly [Setting, Setting]>();

  constructor(all: readonly Setting[], refusals: Refusals) {
    const companies = all.map((setting) => [setting, companyOf(setting, all, refusals)] as const);
    this.never = companies.flatMap(([setting, { problems }]) =>
      problems.length > 0 ? { wishes: [setting], problems } : [],
    );
    this.#usable = companies.flatMap(([setting, { problems }]) => (problems.length === 0 ? setting : []));
    this.#companies = new Map(companies.map(([setting, { wishes }]) => [setting, wishes]));
    this.#places = new Map(this.#usable.map((setting, i) => [setting, i]));
    this.#refusals = refusals;
    this.#sortPairs();
  }

  #sortPairs(): void {
    for (const [i, one] of this.#usable.entries()) {
      for (const other of this.#usable.slice(i + 1)) {
        if (!areTogether([one, other])) continue;
        const together = this.#withCompany([one, other]);
        // What they need may exclude each other, which says nothing of them.
        const wishes = areTogether(together) ? together : [one, other];
        const problems = this.#refusals(wishes);
        if (problems.length === 0) this.#open.set(this.#keyOf(one, other), [one, other]);
        else this.refused.push({ wishes, problems });
      }
    }
  }

  /**
   * Each run begins with a pair that none has yet, and takes one setting after the other that adds pairs and is not
   * refused with those it has.
   * @param below draws a whole number, so that the same seed makes the same runs
   * @param most settings of a run
   */
  *runs(below: (end: number) => number, most: number): Generator<Wishes> {
    while (this.#open.size > 0) {
      const pairs = [...this.#open.values()];
      const run = this.#grow(pairs[below(pairs.length)], below, most);
      for (const [key, pair] of this.#open) if (pair.every((own) => run.includes(own))) this.#open.delete(key);
      yield run;
    }
  }

  #grow(start: readonly [Setting, Setting], below: (end: number) => number, most: number): Wishes {
    const together = this.#withCompany(start);
    let run = areTogether(together) ? together : start;
    for (const setting of shuffled(this.#usable, below)) {
      if (run.length >= most) break;
      if (run.includes(setting) || !run.some((own) => this.#open.has(this.#keyOf(setting, own)))) continue;
      const grown = union(run, this.#withCompany([setting]));
      if (areTogether(grown) && this.#refusals(grown).length === 0) run = grown;
    }
    return run;
  }

  #withCompany(wishes: Wishes): Wishes {
    return wishes.reduce<Wishes>((own, wish) => union(own, this.#companies.get(wish) ?? []), wishes);
  }

  #keyOf(one: Setting, other: Setting): string {
    const [i, j] = [one, other].map((own) => this.#places.get(own) ?? -1);
    return `${Math.min(i, j)} ${Math.max(i, j)}`;
  }
}

function shuffled<T>(list: readonly T[], below: (end: number) => number): T[] {
  const order = [...list];
  for (let i = order.length - 1; i > 0; i--) {
    const j = below(i + 1);
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order;
}
