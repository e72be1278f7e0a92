import { type Tensor, tf } from '../tensorflow/tf.ts';
import type { Member } from '../member/member.ts';
import { slotsOf } from '../optimizers/optimizer.ts';
import type { UpdateRule, UpdateSettings } from '../optimizers/optimizers.ts';
import { StackedVariable } from './stacked-variable.ts';

/** A stacked weight with what the members' optimizers remember of it. */
interface Entry {
  weight: StackedVariable;
  /** Its position among a member's variables. */
  position: number;
  slots: StackedVariable[];
}

/** What one member's update is made with; null for a member that makes none. */
export type MemberUpdate = UpdateSettings | null;

/**
 * The members' optimizers as one. Where all of them make the same update, as they nearly always do, a weight is updated in one go;
 * else row by row.
 */
export class StackedOptimizer {
  private readonly rule: UpdateRule;
  private readonly members: readonly Member[];
  private readonly entries: readonly Entry[];

  constructor(rule: UpdateRule, members: readonly Member[], weights: readonly StackedVariable[]) {
    this.rule = rule;
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

  /** @param gradients one of each stacked weight, null where no loss depends on it. @param updates one of each member */
  apply(gradients: readonly (Tensor | null)[], updates: readonly MemberUpdate[]): void {
    this.entries.forEach((entry, i) => {
      const gradient = gradients[i];
      if (gradient === null) return;
      const steps = this.countUpdates(entry, updates);
      const inputs = { variable: entry.weight.variable, gradient, slots: entry.slots.map(({ variable }) => variable) };
      const [first] = updates;
      if (first !== null && updates.every((update, m) => steps[m] === steps[0] && isSame(update, first))) {
        return this.rule.update(inputs, steps[0], first);
      }
      updates.forEach((update, row) => {
        if (update !== null) this.rule.update({ ...inputs, row }, steps[row], update);
      });
    });
  }

  /** Gives a member's own optimizer back what is remembered of its weights. */
  unload(member: number): void {
    for (const slot of this.entries.flatMap(({ slots }) => slots)) slot.unload(member);
  }

  dispose(): void {
    for (const slot of this.entries.flatMap(({ slots }) => slots)) slot.dispose();
  }

  /** Counts are the members' own all along. */
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
 * Applies the members' constraints to rows of stacked weights.
 * @param isUpdated whether a member has just been updated: the others' rows stay as they are
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
