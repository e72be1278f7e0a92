import type { WeightGroup } from '../../core/protocol/run/optimizer-config.ts';
import type { Batch } from '../data/dataset.ts';
import { tf, type LayersModel, type Scalar, type Tensor, type Variable } from '../tensorflow/tf.ts';
import {
  batchTensors,
  type LossInputs,
  lossInputsOf,
  modelInputs,
  partnersOf,
  repeated,
  targetTensor,
} from './batch-tensors.ts';
import { ForwardPass } from './forward-pass.ts';
import { innerBatchOf } from './tasks/inner-members.ts';
import { CheckpointedModel, type Checkpointing } from '../segments/checkpointed-model.ts';
import { type GradientLimits, limitGradients } from '../optimizers/clipping.ts';
import type { Optimizer, UpdateSettings } from '../optimizers/optimizers.ts';
import { freezeWeights, WeightGroups } from './weight-groups.ts';
import { WeightAverage } from './weight-average.ts';
import { trainedWeightNames } from './weights.ts';
import { addPenalties, constrain, type Constraint, constraintsOf, penaltiesOf, type Penalty } from './penalties.ts';

/** The loss of a batch, to minimise; called while the gradient tape records. */
export type LossFunction = (outputs: Tensor[], targets: Tensor, position: StepPosition, of: LossInputs) => Tensor;

export interface StepPosition {
  epoch: number;
  step: number;
  totalSteps: number;
  /** The rank that trains; 0 where there is no other. */
  rank?: number;
  /**
   * Values that replace configured ones in this rank's loss, by name: hyperparameters, or settings of the task's loss.
   */
  scalars?: ReadonlyMap<string, number>;
}

export type Gradient = Tensor | null;

/** A loss and its gradients, one for each of a member's variables. */
export interface LossAndGradients {
  loss: number;
  gradients: Gradient[];
}

/** A batch as a model's inputs and its loss. */
export interface OpenedBatch {
  inputs: Tensor | Tensor[];
  lossOf: (outputs: Tensor[], position: StepPosition) => Tensor;
}

/** What a member's updates depend on beside the optimizer's rule. */
export interface MemberUpdates extends GradientLimits {
  groups: readonly WeightGroup[];
  /** Decay of the exponential moving average of the weights; absent or 0: none. */
  averageDecay?: number;
  /** Which activations the backward pass computes again; absent: none. */
  checkpointing?: Checkpointing;
}

const noVariables: ReadonlySet<Variable> = new Set();
const plainUpdates: MemberUpdates = { clipNorm: 0, clipValue: 0, groups: [] };

/** One member of the ensemble during training: a model, its loss and its optimizer. */
export class Member {
  readonly model: LayersModel;
  readonly variables: Variable[];
  readonly optimizer: Optimizer;
  readonly constraints: ReadonlyMap<Variable, Constraint>;
  readonly limits: GradientLimits;
  readonly groups: WeightGroups;
  /** Null where the run keeps none. */
  readonly average: WeightAverage | null;
  private readonly loss: LossFunction;
  readonly penalties: readonly Penalty[];
  /** Rows that the model returns for each sample in training: more than one where it has inner members. */
  private readonly rowsPerSample: number;
  /** Null where all activations are kept. */
  private readonly checkpointed: CheckpointedModel | null;

  constructor(
    model: LayersModel,
    loss: LossFunction,
    createOptimizer: (variables: Variable[]) => Optimizer,
    updates: MemberUpdates = plainUpdates,
  ) {
    freezeWeights(model, updates.groups);
    this.model = model;
    this.limits = updates;
    this.groups = new WeightGroups(model, updates.groups);
    this.loss = loss;
    this.variables = trainableVariables(model);
    this.optimizer = createOptimizer(this.variables);
    this.constraints = constraintsOf(model);
    const { averageDecay = 0 } = updates;
    this.average =
      averageDecay === 0 ? null : new WeightAverage(averageDecay, trainedWeightNames(model), this.variables);
    this.penalties = penaltiesOf(model);
    this.rowsPerSample = innerBatchOf(model)?.rowsPerSample ?? 1;
    const { checkpointing = 'none' } = updates;
    this.checkpointed = checkpointing === 'none' ? null : new CheckpointedModel(model, checkpointing);
  }

  /**
   * Forward and backward pass of the loss with the layers' penalties. Returns one gradient for each of `variables`,
   * null where the loss does not depend on it. The caller disposes of them.
   */
  async lossAndGradients(batch: Batch, position: StepPosition): Promise<LossAndGradients> {
    return await this.gradientsOf(() => {
      const { inputs, lossOf } = this.open(batch);
      return () => addPenalties(lossOf(this.outputs(inputs), position), this.penalties);
    });
  }

  /**
   * A batch's inputs of the model, and its loss without penalties as a function of the model's outputs. Call it inside
   * `tidy`.
   */
  open(batch: Batch): OpenedBatch {
    const [features, ofSamples] = batchTensors(batch);
    const targets = repeated(ofSamples, this.rowsPerSample);
    const of = lossInputsOf(batch, features, this.rowsPerSample);
    const mixed = mixedTargets(batch, features, this.rowsPerSample);
    const lossOf = (outputs: Tensor[], position: StepPosition): Tensor => {
      const own = () => this.loss(outputs, targets, position, of);
      if (mixed === null || mixed.share === 1) return own();
      const partners = () => this.loss(outputs, mixed.targets, position, mixed.of);
      // A mask counts nothing of the own samples of a part.
      if (mixed.share === 0) return partners();
      return mixLosses(own(), partners(), mixed.share);
    };
    return { inputs: modelInputs(this.model, batch, features), lossOf };
  }

  /**
   * The layers' penalties alone, for a step that computes its loss elsewhere; null for a model without penalties. The
   * caller disposes of the gradients.
   */
  async penalty(): Promise<LossAndGradients | null> {
    const [first, ...others] = this.penalties;
    if (first === undefined) return null;
    return await this.gradientsOf(() => () => addPenalties(first(), others));
  }

  /** Forward pass of a model with one output, whose backward pass comes later. It excludes penalties. */
  forward(batch: Batch): ForwardPass {
    return new ForwardPass(this.variables, () => {
      const [features] = batchTensors(batch);
      const [output] = this.outputs(modelInputs(this.model, batch, features));
      return output;
    });
  }

  /**
   * Updates the weights with the gradients, limited as configured, applies the weights' constraints, and averages the
   * weights.
   */
  applyGradients(gradients: Gradient[], settings: UpdateSettings | readonly UpdateSettings[]): void {
    const ofWeights = this.groups.settings(settings);
    tf.tidy(() => this.optimizer.apply(limitGradients(gradients, this.limits), ofWeights));
    this.constrain();
    this.average?.update();
  }

  /** Applies the layers' constraints, after a change of the weights other than by `applyGradients`. */
  constrain(): void {
    constrain(this.constraints);
  }

  /** The model's outputs in training mode. */
  private outputs(inputs: Tensor | Tensor[]): Tensor[] {
    return this.checkpointed?.outputs(inputs) ?? outputsOf(this.model, inputs, true);
  }

  private async gradientsOf(prepare: () => () => Tensor): Promise<LossAndGradients> {
    const { value, grads } = tf.tidy(() => tf.variableGrads(prepare() as () => Scalar, this.variables));
    const [loss] = await value.data();
    value.dispose();
    const unreached = this.checkpointed?.takeUnreached() ?? noVariables;
    // A penalty depends on a weight that the outputs do not depend on.
    const isNull = (variable: Variable): boolean => unreached.has(variable) && this.penalties.length === 0;
    return {
      loss,
      gradients: this.variables.map((variable) => {
        const gradient = grads[variable.name] ?? null;
        if (gradient === null || !isNull(variable)) return gradient;
        gradient.dispose();
        return null;
      }),
    };
  }
}

/** The targets of the samples that were mixed into a batch; null where none were. */
function mixedTargets(batch: Batch, features: Tensor, rowsPerSample: number) {
  const partners = partnersOf(batch);
  if (partners === null) return null;
  return {
    targets: repeated(targetTensor(partners), rowsPerSample),
    of: lossInputsOf(partners, features, rowsPerSample),
    share: batch.mixed?.share ?? 1,
  };
}

/** λ·own + (1 − λ)·others */
export function mixLosses(own: Tensor, others: Tensor, share: number | Tensor): Tensor {
  return tf.add(tf.mul(own, share), tf.mul(others, tf.sub(1, share)));
}

/** Adds gradients by variable. Disposes of its arguments. */
export function addGradients(first: readonly Gradient[], second: readonly Gradient[]): Gradient[] {
  return first.map((gradient, i) => {
    const other = second[i];
    if (gradient === null || other === null) return gradient ?? other;
    const sum = tf.add(gradient, other);
    tf.dispose([gradient, other]);
    return sum;
  });
}

/** A model's outputs, as a list also where there is one. */
export function outputsOf(model: LayersModel, inputs: Tensor | Tensor[], training: boolean): Tensor[] {
  const outputs = model.apply(inputs, { training }) as Tensor | Tensor[];
  return Array.isArray(outputs) ? outputs : [outputs];
}

/** The layers API types its variables as tensors; trainable weights are always variables. */
function trainableVariables(model: LayersModel): Variable[] {
  return model.trainableWeights.map((weight) => weight.read() as Variable);
}
