import type { Tensor } from '@tensorflow/tfjs-core';
import * as layers from '@tensorflow/tfjs-layers';

/**
 * Layers of networks with inner members: members that share most weights and are trained as one model. Legend: `M`
 * inner members, `B` samples of a batch, `R` repetitions of it. A batch `[M·B, ...]` of all members has the rows of
 * member 0 first, then those of member 1, and so on.
 */

export type LayerArgs = NonNullable<ConstructorParameters<typeof layers.layers.Layer>[0]>;
export type Shape = (number | null)[];

/** What a layer is told about the pass that it is part of. */
export interface CallOptions {
  training?: boolean;
}

/** What a network of inner members does to a batch in training. */
export interface InnerBatch {
  /** Rows that it returns for each sample: row j belongs to sample j mod B. */
  rowsPerSample: number;
  /** Whether the batch is split over the members, so that M must divide B. */
  isSplit: boolean;
}

/** A layer that belongs to inner members. */
export abstract class InnerLayer extends layers.layers.Layer {
  /** M */
  readonly members: number;

  constructor({ members, ...args }: LayerArgs & { members: number }) {
    super(args);
    this.members = requireCount('members', members);
  }

  override getConfig() {
    return { ...super.getConfig(), members: this.members };
  }
}

/** The layer with which a network of inner members begins. */
export abstract class InnerInputs extends InnerLayer {
  abstract get batch(): InnerBatch;
}

/** A layer with weights of each inner member, which a plain layer of one member can replace. */
export interface SharedWeights {
  readonly members: number;
  /** The weights of the plain layer, in its order. The caller disposes of them. @param member from 0 */
  weightsOfMember(member: number): Tensor[];
}

/** @throws RangeError unless it is a whole number above 0 */
export function requireCount(name: string, value: number): number {
  if (Number.isInteger(value) && value > 0) return value;
  throw new RangeError(`${name} is ${value}: it must be a whole number of at least 1.`);
}

/** @throws RangeError unless it lies in [0, 1] */
export function requireShare(name: string, value: number): number {
  if (value >= 0 && value <= 1) return value;
  throw new RangeError(`${name} is ${value}: it must be a number from 0 to 1.`);
}

/** The only tensor, or the only shape, that a layer was given. */
export function single<T>(given: T | T[]): T {
  return Array.isArray(given) ? given[0] : given;
}

/** The shape of a layer's only input. */
export function singleShape(given: Shape | Shape[]): Shape {
  return (Array.isArray(given[0]) ? given[0] : given) as Shape;
}
