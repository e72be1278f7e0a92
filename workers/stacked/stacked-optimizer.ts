import { type Tensor, tf } from '../tensorflow/tf.ts';
import type { Member } from '../member/member.ts';
import { slotsOf } from '../optimizers/optimizer.ts';
import type { UpdateRule, UpdateSettings } from '../optimizers/optimizers.ts';
import { StackedVariable } from './stacked-variable.ts';

/** A stacked weight with its optimizer slots. */
interface Entry {
  weight: StackedVariable;
  /** Its index among a member's variables. */
  position: number;
  slots: StackedVariable[];
}

/** The settings of one member's update; null for a member without an update. */
export type MemberUpdate = UpdateSettings | null;

/**
 * The members' optimizers as one. Where all members have the same rule and settings, as those of one run usually have,
 * it updates a weight at once; otherwise row by row, with the same bits.
 */
export class StackedOptimizer {
  /** One per member, with the same slots. */
  private readonly rules: readonly UpdateRule[];
  private readonly members: readonly Member[];
  private readonly entries: readonly Entry[];

  constructor(rules: readonly UpdateRule[], members: readonly Member[], weights: readonly StackedVariable[]) {
    this.rules = rules;
    const [rule] = rules;
    this.members = members;
    this.entries = weights.map((weight) => {
      const position = members[0].variables.indexOf(weight.sources[0]);
      const perMember = members.map(({ optimizer }) => slotsOf(optimizer, rule, position));
      const slots = rule.slots.map((_, slot) => {
        const sources = perMember.map((ofMember) => ofMember[slot]);
        return new StackedVariable(sources, weight.variable.shape, false);
      });
      return { weight, position, slots };
    });
  }

  /** @param gradients one per stacked weight, null where no loss depends on it. @param updates one per member */
  apply(gradients: readonly (Tensor | null)[], updates: readonly MemberUpdate[]): void {
    this.entries.forEach((entry, i) => {
      const gradient = gradients[i];
      if (gradient === null) return;
      const steps = this.countUpdates(entry, updates);
      const own = updates.map((update, m) => update && this.members[m].groups.at(entry.position, update));
      const inputs = { variable: entry.weight.variable, gradient, slots: entry.slots.map(({ variable }) => variable) };
      const [first] = own;
      // Norms are those of a member's weights, not of all members'.
      const [rule] = this.rules;
      const isSeparable = rule.byNorms === undefined && this.rules.every((other) => other === rule);
      if (isSeparable && first !== null && own.every((update, m) => steps[m] === steps[0] && isSame(update, first))) {
        return rule.update(inputs, steps[0], first);
      }
      own.forEach((update, row) => {
        if (update !== null) this.rules[row].update({ ...inputs, row }, steps[row], update);
      });
    });
  }

  /** Copies the slots back to a member's optimizer. */
  unload(member: number): void {
    for (const slot of this.entries.flatMap(({ slots }) => slots)) slot.unload(member);
  }

  dispose(): void {
    for (const slot of this.entries.flatMap(({ slots }) => slots)) slot.dispose();
  }

  /** The members' optimizers keep the counts. */
  private countUpdates({ position }: Entry, updates: readonly MemberUpdate[]): number[] {
    return updates.map((update, m) => (this.members[m].optimizer.steps[position] += update === null ? 0 : 1));
  }
}

function isSame(update: MemberUpdate, other: UpdateSettings): boolean {
  return (
    update !== null &&
    update.learningRate === other.learningRate &&
    update.momentum === other.momentum &&
    update.weightDecay === other.weightDecay
  );
}

/**
 * Applies the members' constraints to the rows of stacked weights.
 * @param isUpdated whether a member was just updated; other members' rows do not change
 */
export function constrainStacked(
  weights: readonly StackedVariable[],
  members: readonly Member[],
  isUpdated: readonly boolean[],
): void {
  for (const weight of weights) {
    const constraints = members.map((member, m) => member.constraints.get(weight.sources[m]) ?? null);
    if (constraints.every((constraint) => constraint === null)) continue;
    tf.tidy(() => {
      const rows = weight.rows().map((row, m) => (isUpdated[m] ? (constraints[m]?.apply(row) ?? row) : row));
      weight.variable.assign(tf.reshape(tf.stack(rows), weight.variable.shape));
    });
  }
}
