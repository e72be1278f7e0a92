import { callsOf, type LayerCall } from '../exchange/model-calls.ts';
import type { Member } from '../member/member.ts';
import type { Variable } from '../tensorflow/tf.ts';
import { type Penalty, penaltiesIn } from '../member/penalties.ts';

/** A layer's call with the trained weights, by their index among the member's variables, and the penalties that it needs. */
export interface PlannedCall extends LayerCall {
  weights: readonly number[];
  /** Penalties of the layer's weights, at its first call. */
  penalties: readonly Penalty[];
}

/** The calls of a model's forward pass in order: the segments of a layered pass. Nested models count as one layer. */
export class LayerPlan {
  readonly calls: readonly PlannedCall[];
  /** For each variable, the first call that uses it, whose backward pass completes its gradient. */
  readonly firstUse: readonly number[];

  /** @throws Error for a weight that no layer owns, such as one of the model itself */
  constructor({ model, variables, penalties }: Member) {
    const open = new Set(penalties);
    this.calls = callsOf(model).map((call) => {
      const weights = call.layer.trainableWeights.map((weight) => variables.indexOf(weight.read() as Variable));
      const own = penaltiesIn(call.layer).filter((penalty) => open.delete(penalty));
      return { ...call, weights: weights.filter((index) => index >= 0), penalties: own };
    });
    if (open.size > 0) throw new Error(cannotBeLayered('a term of its loss belongs to no layer'));
    this.firstUse = variables.map((variable, i) => {
      const first = this.calls.findIndex(({ weights }) => weights.includes(i));
      if (first < 0) throw new Error(cannotBeLayered(`no layer that it calls owns the weight ${variable.name}`));
      return first;
    });
  }
}

function cannotBeLayered(reason: string): string {
  return (
    `This model cannot be computed layer by layer: ${reason}. Use the strategy data-parallel, or sharded with ` +
    '--strategy.stage 1.'
  );
}
