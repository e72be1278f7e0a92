import type { Generator } from '../random/generator.ts';
import type { Belief } from './belief.ts';

/**
 * Choices of a batch among the candidates that are not labelled yet. Each returns indices of the pool in the order of
 * the choice. Equal scores fall to the smaller index, so that a choice is the same on every machine. Candidates whose
 * score is NaN are never chosen.
 */

/** The `count` open candidates with the largest scores. @param open indices, ascending */
export function chooseTop(scores: Float64Array, open: Int32Array, count: number): Int32Array {
  const usable = open.filter((index) => !Number.isNaN(scores[index]));
  // An infinite score minus another one is NaN, which would leave the order open.
  const order = (a: number, b: number): number => (scores[a] === scores[b] ? a - b : scores[a] < scores[b] ? 1 : -1);
  return largest(usable, count, order);
}

/** `count` open candidates drawn at random. */
export function chooseRandom(open: Int32Array, count: number, generator: Generator): Int32Array {
  const order = generator.permutation(open.length);
  return order.subarray(0, count).map((place) => open[place]);
}

/**
 * Thompson sampling with the members as samples of the posterior: each choice draws a member and takes the open
 * candidate that this member likes best. Source: Thompson, "On the likelihood that one unknown probability exceeds
 * another", 1933; for ensembles Lu and Van Roy, "Ensemble sampling", 2017.
 */
export function chooseThompson(belief: Belief, open: Int32Array, count: number, generator: Generator): Int32Array {
  const queues = new MemberQueues(belief, open, count);
  return queues.take(count, () => generator.integer(belief.members));
}

/**
 * The candidates that are most probably the pool's optimum (qPO), with the members as joint samples of the pool's
 * values: α(x) is the share of members whose best open candidate is x. M members name at most M candidates, so the next
 * ones are chosen among those that remain, by the same rule, until the batch is full. Equal shares fall to the larger
 * mean. Source: Fromer, Wang and Coley, "Batched Bayesian optimization by maximizing the probability of including the
 * optimum", 2024, equation 4.
 */
export function chooseOptimum(belief: Belief, open: Int32Array, count: number): Int32Array {
  const queues = new MemberQueues(belief, open, count);
  const chosen: number[] = [];
  while (chosen.length < Math.min(count, queues.usable)) {
    const votes = new Map<number, number>();
    for (let member = 0; member < belief.members; member++) {
      const favourite = queues.peek(member);
      votes.set(favourite, (votes.get(favourite) ?? 0) + 1);
    }
    const named = [...votes].sort(
      ([a, votesOfA], [b, votesOfB]) => votesOfB - votesOfA || belief.mean[b] - belief.mean[a] || a - b,
    );
    for (const [index] of named.slice(0, count - chosen.length)) {
      queues.remove(index);
      chosen.push(index);
    }
  }
  return Int32Array.from(chosen);
}

/** The open candidates of each member, best first. */
class MemberQueues {
  /** Candidates that all members have a value for. */
  readonly usable: number;
  readonly #queues: readonly Int32Array[];
  readonly #places: number[];
  readonly #taken = new Set<number>();

  /** @param count as many candidates will be taken at most, so that longer queues are not needed */
  constructor({ members, candidates, values, mean }: Belief, open: Int32Array, count: number) {
    const usable = open.filter((index) => !Number.isNaN(mean[index]));
    this.usable = usable.length;
    this.#queues = Array.from({ length: members }, (_, member) =>
      chooseTop(values.subarray(member * candidates, (member + 1) * candidates), usable, count),
    );
    this.#places = this.#queues.map(() => 0);
  }

  peek(member: number): number {
    while (this.#taken.has(this.#queues[member][this.#places[member]])) this.#places[member]++;
    return this.#queues[member][this.#places[member]];
  }

  remove(index: number): void {
    this.#taken.add(index);
  }

  take(count: number, nextMember: () => number): Int32Array {
    return Int32Array.from({ length: Math.min(count, this.usable) }, () => {
      const chosen = this.peek(nextMember());
      this.remove(chosen);
      return chosen;
    });
  }
}

/**
 * The first `count` in the given order. Keeps a sorted list of the best, because a pool is large and a batch is small.
 */
function largest(indices: Int32Array, count: number, order: (a: number, b: number) => number): Int32Array {
  if (count * 8 > indices.length) return indices.toSorted(order).subarray(0, count);
  const best: number[] = [];
  for (const index of indices) {
    if (best.length === count && order(best[count - 1], index) <= 0) continue;
    let place = Math.min(best.length, count - 1);
    while (place > 0 && order(best[place - 1], index) > 0) {
      best[place] = best[place - 1];
      place--;
    }
    best[place] = index;
  }
  return Int32Array.from(best);
}
