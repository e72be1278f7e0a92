import * as core from '@tensorflow/tfjs-core';
import type { TaskKind } from '../../../../core/metrics/registry/metric.ts';
import {
  BatchEnsembleConv2D,
  BatchEnsembleDense,
  BatchEnsembleInputs,
  type BatchEnsembleOptions,
  type BatchOfMembers,
  RandomSign,
} from './batch-ensemble.ts';
import type { InnerLayer, LayerArgs } from './inner-layer.ts';
import { MeanOfMembers } from './mean-of-members.ts';
import { type MimoBatches, MimoHeads, MimoInputs } from './mimo.ts';
import type { ConvArgs, DenseArgs } from './stock-layer.ts';

type OutputArgs = LayerArgs & { task: TaskKind };
type Factors = Pick<BatchEnsembleOptions, 'factorInitializer'>;

/** The layers of a network with M inner members, by {@link batchEnsemble}. */
export interface BatchEnsembleLayers {
  /** The first layer: repeats the batch for all members. */
  inputs: (options?: LayerArgs) => InnerLayer;
  dense: (options: DenseArgs & Factors) => InnerLayer;
  conv2d: (options: ConvArgs & Factors) => InnerLayer;
  /** The last layer of each output: the mean of the members' predictions. */
  outputs: (options: OutputArgs) => InnerLayer;
}

/**
 * Layers of BatchEnsemble (Wen, Tran and Ba, ICLR 2020): M members share all weights but factors and biases. Other
 * layers between `inputs` and `outputs` are common to all members.
 *
 * @param options.training `repeat` (usual): each member learns from the whole batch; `split`: from its share of it
 * @throws RangeError for less than one member
 */
export function batchEnsemble(options: { members: number; training?: BatchOfMembers }): BatchEnsembleLayers {
  const { members, training } = options;
  return {
    inputs: (args = {}) => new BatchEnsembleInputs({ ...args, members, ...(training && { training }) }),
    dense: (args) => new BatchEnsembleDense({ ...args, members }),
    conv2d: (args) => new BatchEnsembleConv2D({ ...args, members }),
    outputs: (args) => new MeanOfMembers({ ...args, members }),
  };
}

/** The layers of a network with M inner members, by {@link mimo}. */
export interface MimoLayers {
  /**
   * The first layer: takes the features, and returns a list of rows with M samples each and of positions, which `heads`
   * needs.
   */
  inputs: (options?: LayerArgs) => InnerLayer;
  /** A dense layer for each member. Takes a list of features and positions. */
  heads: (options: DenseArgs) => InnerLayer;
  /** The last layer of each output: the mean of the members' predictions. */
  outputs: (options: OutputArgs) => InnerLayer;
}

/**
 * Layers of MIMO (Havasi et al., ICLR 2021): one network takes M samples at once and predicts each of them with a head
 * of its own, so that members use different parts of the network.
 *
 * @throws RangeError for less than one member or repetition, or a share outside of [0, 1]
 */
export function mimo({ members, ...batches }: MimoBatches): MimoLayers {
  return {
    inputs: (args = {}) => new MimoInputs({ ...args, members, ...batches }),
    heads: (args) => new MimoHeads({ ...args, members }),
    outputs: (args) => new MeanOfMembers({ ...args, members }),
  };
}

/** Lets models with such layers be built from their descriptions, without the code of a project. */
export function registerInnerLayers(): void {
  const { registerClass } = core.serialization;
  registerClass(RandomSign as unknown as core.serialization.SerializableConstructor<RandomSign>);
  for (const kind of [BatchEnsembleInputs, BatchEnsembleDense, BatchEnsembleConv2D, MimoInputs, MimoHeads]) {
    registerClass(kind as core.serialization.SerializableConstructor<InnerLayer>);
  }
  registerClass(MeanOfMembers as core.serialization.SerializableConstructor<InnerLayer>);
}
