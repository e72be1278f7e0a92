import { tf, type LayersModel, type Tensor, type Variable } from '../tensorflow/tf.ts';
import { addPenalties, type Penalty, penaltiesOf } from '../member/penalties.ts';
import type { StackedVariable } from './stacked-variable.ts';

/** The private field of tfjs-layers' variable that `read` returns. */
interface LayerVariable {
  val: Tensor;
  read(): Tensor;
}

/** The penalties of stacked members' layers. While they are computed, rows of the stacked weights replace the layers' weights. */
export class StackedPenalties {
  private readonly penalties: readonly (readonly Penalty[])[];
  private readonly weights: readonly StackedVariable[];
  private readonly layerVariables: ReadonlyMap<Variable, LayerVariable>;

  constructor(models: readonly LayersModel[], weights: readonly StackedVariable[]) {
    this.penalties = models.map(penaltiesOf);
    this.weights = weights;
    const all = models.flatMap((model) => model.weights as unknown as LayerVariable[]);
    this.layerVariables = new Map(all.map((weight) => [weight.read() as Variable, weight]));
  }

  /** losses `[M]` with each member's penalties added. */
  addTo(losses: Tensor): Tensor {
    if (this.penalties.every(({ length }) => length === 0)) return losses;
    const rows = this.weights.map((weight) => weight.rows());
    const sums = this.penalties.map((own, member) => {
      const values = new Map(this.weights.map(({ sources }, i) => [sources[member], rows[i][member]]));
      return this.withValues(values, () => addPenalties(tf.scalar(0), own));
    });
    return tf.add(losses, tf.stack(sums));
  }

  private withValues(values: ReadonlyMap<Variable, Tensor>, compute: () => Tensor): Tensor {
    const replace = (variable: Variable, value: Tensor): void => {
      const weight = this.layerVariables.get(variable);
      if (weight === undefined) throw new Error(`Weight "${variable.name}" belongs to no layer of the stacked models.`);
      weight.val = value;
    };
    for (const [variable, value] of values) replace(variable, value);
    try {
      return compute();
    } finally {
      for (const variable of values.keys()) replace(variable, variable);
    }
  }
}
