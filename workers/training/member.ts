import type { Batch } from '../data/dataset.ts';
import { tf, type LayersModel, type Scalar, type Tensor, type Variable } from '../tf.ts';
import { ForwardPass } from './forward-pass.ts';
import type { Optimizer, UpdateSettings } from './optimizers.ts';

/** The loss of a batch, to be minimised; called while the gradient tape records. */
export type LossFunction = (outputs: Tensor[], targets: Tensor, position: StepPosition) => Tensor;

export interface StepPosition {
  epoch: number;
  step: number;
  totalSteps: number;
  /** Values that a rank's loss uses instead of those configured, by name: of hyperparameters, or of the task's loss. */
  scalars?: ReadonlyMap<string, number>;
}

export type Gradient = Tensor | null;

/** One member of the ensemble as it is trained: a model, its loss and its optimizer. */
export class Member {
  readonly model: LayersModel;
  readonly variables: Variable[];
  readonly optimizer: Optimizer;
  private readonly loss: LossFunction;

  constructor(model: LayersModel, loss: LossFunction, createOptimizer: (variables: Variable[]) => Optimizer) {
    this.model = model;
    this.loss = loss;
    this.variables = trainableVariables(model);
    this.optimizer = createOptimizer(this.variables);
  }

  /**
   * Forward and backward pass. The gradients are the caller's to dispose of: one for each of `variables`, null where the loss
   * does not depend on it.
   */
  async lossAndGradients(batch: Batch, position: StepPosition): Promise<{ loss: number; gradients: Gradient[] }> {
    const { value, grads } = tf.tidy(() => {
      const [features, targets] = batchTensors(batch);
      const loss = () => this.loss(outputsOf(this.model, features, true), targets, position) as Scalar;
      return tf.variableGrads(loss, this.variables);
    });
    const [loss] = await value.data();
    value.dispose();
    return { loss, gradients: this.variables.map((variable) => grads[variable.name] ?? null) };
  }

  /** Forward pass of a model with one output, whose backward pass comes later. */
  forward(batch: Batch): ForwardPass {
    return new ForwardPass(this.variables, () => {
      const [features] = batchTensors(batch);
      const [output] = outputsOf(this.model, features, true);
      return output;
    });
  }

  applyGradients(gradients: Gradient[], settings: UpdateSettings | readonly UpdateSettings[]): void {
    this.optimizer.apply(gradients, settings);
  }
}

/** A model's outputs as a list, whether it has one or several. */
export function outputsOf(model: LayersModel, features: Tensor, training: boolean): Tensor[] {
  const outputs = model.apply(features, { training }) as Tensor | Tensor[];
  return Array.isArray(outputs) ? outputs : [outputs];
}

/** A batch's features and targets as tensors. */
export function batchTensors(batch: Batch): [Tensor, Tensor] {
  const { features, featureShape, targets } = batch;
  const size = featureShape[0];
  const targetShape = targets.length === size ? [size] : [size, targets.length / size];
  const dtype = targets instanceof Int32Array ? 'int32' : 'float32';
  return [tf.tensor(features, featureShape), tf.tensor(targets, targetShape, dtype)];
}

/** The layers API hands its variables out typed as tensors; trainable weights are always variables. */
function trainableVariables(model: LayersModel): Variable[] {
  return model.trainableWeights.map((weight) => weight.read() as Variable);
}
