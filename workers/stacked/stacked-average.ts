import type { Member } from '../member/member.ts';
import { averageInto, type WeightAverage } from '../member/updates/weight-average.ts';
import { tf, type Variable } from '../tensorflow/tf.ts';
import { StackedVariable } from './stacked-variable.ts';

/** The averages of stacked members' weights: those of the stacked weights as one, the others in the members. */
export class StackedAverage {
  readonly #ofMembers: readonly WeightAverage[];
  readonly #weights: readonly StackedVariable[];
  readonly #averages: readonly StackedVariable[];

  /** @param weights the stacked ones */
  constructor(members: readonly Member[], weights: readonly StackedVariable[]) {
    this.#ofMembers = members.map(averageOf);
    this.#weights = weights;
    this.#averages = weights.map(({ sources, variable }) => {
      const position = members[0].variables.indexOf(sources[0]);
      const own = this.#ofMembers.map(({ averages }) => averages[position]);
      return new StackedVariable(own, variable.shape, false);
    });
  }

  /** Averages the weights after an update. @param others each member's weights that are not stacked. @param isUpdated by member */
  update(others: readonly (readonly Variable[])[], isUpdated: readonly boolean[]): void {
    const rates = this.#ofMembers.map(({ nextRate }, m) => (isUpdated[m] ? nextRate : 0));
    const isCommon = rates.every((rate) => rate === rates[0]);
    tf.tidy(() => {
      this.#weights.forEach(({ variable }, i) => {
        const ones = variable.shape.slice(1).map(() => 1);
        const rate = isCommon ? rates[0] : tf.tensor(rates, [rates.length, ...ones]);
        averageInto(this.#averages[i].variable, variable, rate);
      });
    });
    this.#ofMembers.forEach((own, m) => {
      if (!isUpdated[m]) return;
      own.average(others[m]);
      own.updates += 1;
    });
  }

  /** Copies the averages of a member's stacked weights back to it. */
  unload(member: number): void {
    for (const average of this.#averages) average.unload(member);
  }

  dispose(): void {
    for (const average of this.#averages) average.dispose();
  }
}

function averageOf({ average }: Member): WeightAverage {
  if (average === null) throw new Error('A member of the stack has no average of its weights, but the first one has.');
  return average;
}
