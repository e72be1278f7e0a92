import type { Batch } from '../data/dataset.ts';
import type { StepOutcome } from '../strategies/strategy.ts';
import { type LayersModel, type Tensor, tf, type Variable } from '../tensorflow/tf.ts';
import { fieldTensor, ownField } from '../member/batch-tensors.ts';
import { limitByMember } from '../optimizers/clipping.ts';
import type { LossFunction, Member, StepPosition } from '../member/member.ts';
import type { UpdateRule, UpdateSettings } from '../optimizers/optimizers.ts';
import { constrainStacked, type MemberUpdate, StackedOptimizer } from './stacked-optimizer.ts';
import type { Draw } from './stacked-kinds.ts';
import { StackedModel } from './stacked-model.ts';
import { addPenalties, constrain, penaltiesOf, type Penalty } from '../member/penalties.ts';
import { StackedVariable } from './stacked-variable.ts';
import { averageInto, type WeightAverage } from '../member/weight-average.ts';

/** One member's input to a step. */
export interface StepInput {
  batch: Batch;
  settings: UpdateSettings;
  position: StepPosition;
}

/** A member with its stream of random numbers. */
interface StackableMember {
  member: Member;
  draw: Draw;
  rule: UpdateRule;
  loss: LossFunction | null;
}

/** A member's part of a step's losses. */
interface StackedInput {
  batch: Batch;
  position: StepPosition;
  draw: Draw;
  /**
   * The loss of the member's run where it differs from that of {@link StackedTraining}; absent or null: it does not.
   */
  loss?: LossFunction | null;
}

/** How stacked members learn. */
export interface StackedTraining {
  /** The rule of members whose run has none of its own. */
  rule: UpdateRule;
  /** Whether all members train on the same samples in a step. */
  sharesBatches: boolean;
  /** The members' losses `[M]` of outputs `[M, B, ...]` and targets `[M, B]` or `[M, B, T]`. */
  losses(outputs: Tensor[], targets: Tensor, members: readonly StackedInput[]): Tensor;
}

/**
 * Computes the members' steps as one, with the results of separate steps up to rounding. It holds their weights and
 * optimizer slots; `unload` copies them back to a member.
 */
export class StackedMembers {
  private readonly members: readonly Member[];
  private readonly stackable: readonly StackableMember[];
  private readonly training: StackedTraining;
  private readonly model: StackedModel;
  private readonly optimizer: StackedOptimizer;
  private readonly penalties: StackedPenalties;
  private readonly average: StackedAverage | null;
  /** Each member's variables that are not stacked. */
  private readonly others: Variable[][];
  private readonly variables: Variable[];

  constructor(stackable: readonly StackableMember[], training: StackedTraining) {
    this.members = stackable.map(({ member }) => member);
    this.stackable = stackable;
    this.training = training;
    const models = this.members.map(({ model }) => model);
    this.model = new StackedModel(
      models,
      stackable.map(({ draw }) => draw),
    );
    const { weights } = this.model;
    this.penalties = new StackedPenalties(models, weights);
    this.optimizer = new StackedOptimizer(
      stackable.map(({ rule }) => rule),
      this.members,
      weights,
    );
    this.average = this.members[0].average === null ? null : new StackedAverage(this.members, weights);
    const stacked = new Set(weights.flatMap(({ sources }) => sources));
    this.others = this.members.map(({ variables }) => variables.filter((variable) => !stacked.has(variable)));
    this.variables = [...weights.map(({ variable }) => variable), ...this.others.flat()];
  }

  /** One step of each member. Does not update a member whose loss is not finite. */
  async step(inputs: readonly StepInput[]): Promise<StepOutcome[]> {
    const { value, grads } = tf.tidy(() => {
      const batches = inputs.map(({ batch }) => batch);
      const [features, targets] = stackBatches(batches, this.training.sharesBatches);
      const inputTensors = stackInputs(this.members[0].model, batches, features);
      const members = inputs.map(({ batch, position }, m) => {
        const { draw, loss } = this.stackable[m];
        return { batch, position, draw, loss };
      });
      const losses = (): Tensor => {
        const outputs = this.model.forward(inputTensors);
        return this.penalties.addTo(this.training.losses(outputs, targets, members));
      };
      return tf.engine().gradients(losses, this.variables, undefined, true);
    });
    const losses = await value.data();
    value.dispose();
    const gradients = grads.map((gradient: Tensor | undefined) => gradient ?? null);
    const updates = inputs.map(({ settings }, m) => (Number.isFinite(losses[m]) ? settings : null));
    tf.tidy(() => this.update(gradients, updates));
    tf.dispose(gradients.filter((gradient) => gradient !== null));
    return inputs.map((_, m) => ({ loss: losses[m], updated: Number.isFinite(losses[m]) }));
  }

  /** Copies the weights and their average back to a member; with `withOptimizer` also the optimizer's slots. */
  unload(member: Member, withOptimizer: boolean): void {
    const row = this.members.indexOf(member);
    for (const weight of this.model.weights) weight.unload(row);
    this.average?.unload(row);
    if (withOptimizer) this.optimizer.unload(row);
  }

  dispose(): void {
    this.model.dispose();
    this.average?.dispose();
    this.optimizer.dispose();
  }

  private update(gradients: readonly (Tensor | null)[], updates: readonly MemberUpdate[]): void {
    const { weights } = this.model;
    let next = weights.length;
    const others = this.others.map((own) => gradients.slice(next, (next += own.length)));
    const [{ limits }] = this.members;
    const limited = limitByMember({ stacked: gradients.slice(0, weights.length), others }, limits);
    this.optimizer.apply(limited.stacked, updates);
    const isUpdated = updates.map((update) => update !== null);
    constrainStacked(weights, this.members, isUpdated);
    this.members.forEach((member, m) => {
      const own = new Map(this.others[m].map((variable, i) => [variable, limited.others[m][i]]));
      const update = updates[m];
      if (update === null || own.size === 0) return;
      member.optimizer.apply(
        member.variables.map((variable) => own.get(variable) ?? null),
        member.groups.settings(update),
      );
      constrain(new Map([...member.constraints].filter(([variable]) => own.has(variable))));
    });
    this.average?.update(this.others, isUpdated);
  }
}

/**
 * Stacks batches of the same size: features `[M, B, ...]`, or `[1, B, ...]` where all members share them, and targets
 * `[M, B]` or `[M, B, T]`.
 */
function stackBatches(batches: readonly Batch[], isShared: boolean): [Tensor, Tensor] {
  const [{ featureShape, targetShape, targets }] = batches;
  const features = isShared ? batches[0].features : joined(batches.map((batch) => batch.features));
  const dtype = targets instanceof Int32Array ? 'int32' : 'float32';
  return [
    tf.tensor(features, [isShared ? 1 : batches.length, ...featureShape]),
    tf.tensor(joined(batches.map((batch) => batch.targets)), [batches.length, ...targetShape], dtype),
  ];
}

/** What the stacked model is called with: the stacked features, or a list in the order of its inputs. */
function stackInputs({ inputNames }: LayersModel, batches: readonly Batch[], features: Tensor): Tensor[] {
  if (inputNames.length === 1) return [features];
  const [members] = features.shape;
  const [size] = batches[0].featureShape;
  return inputNames.map((name) => {
    const fields = batches.slice(0, members).map(({ extraInputs = {} }) => ownField(extraInputs, name));
    const tensors = fields.map((field) => (field === undefined ? null : fieldTensor(field, size)));
    const present = tensors.filter((tensor) => tensor !== null);
    return present.length === 0 ? features : tf.stack(present);
  });
}

function joined(arrays: readonly (Float32Array | Int32Array)[]): Float32Array | Int32Array {
  const [{ length }] = arrays;
  const size = length * arrays.length;
  const whole = arrays[0] instanceof Int32Array ? new Int32Array(size) : new Float32Array(size);
  arrays.forEach((array, i) => whole.set(array, i * length));
  return whole;
}

/** The private field of tfjs-layers' variable that `read` returns. */
interface LayerVariable {
  val: Tensor;
  read(): Tensor;
}

/**
 * The penalties of stacked members' layers. While they are computed, rows of the stacked weights replace the layers'
 * weights.
 */
class StackedPenalties {
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

/** The averages of stacked members' weights: those of the stacked weights as one, the others in the members. */
class StackedAverage {
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

  /**
   * Averages the weights after an update.
   * @param others each member's weights that are not stacked.
   * @param isUpdated by member
   */
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
