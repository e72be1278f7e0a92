import type { ProcessGroup } from '../../collectives/process-group.ts';
import type { LayersModel, Variable } from '../../tensorflow/tf.ts';
import { FlatLayout } from './flat-layout.ts';

/** The weights of a model that several ranks hold, as one flat array. */
export class Replicas {
  readonly #group: ProcessGroup;
  readonly #variables: readonly Variable[];
  readonly #layout: FlatLayout;

  /** @param which all weights, or only untrained ones: the running statistics of batch normalisation */
  constructor(model: LayersModel, group: ProcessGroup, which: 'all' | 'buffers') {
    const weights = which === 'all' ? model.weights : model.nonTrainableWeights;
    this.#group = group;
    this.#variables = weights.map((weight) => weight.read() as Variable);
    this.#layout = new FlatLayout(this.#variables);
  }

  /** Copies the first rank's weights to all ranks, in parts, as a rank may have no room for two copies. */
  async broadcast(): Promise<void> {
    const [first] = this.#group.ranks;
    for (const part of inParts(this.#variables)) {
      const layout = new FlatLayout(part);
      const flat = new Float32Array(layout.length);
      await layout.read(part, flat);
      layout.write(await this.#group.broadcast(flat, first), part);
    }
  }

  /** A new array for the weights, shape `[P]`. */
  allocate(): Float32Array<ArrayBuffer> {
    return new Float32Array(this.#layout.length);
  }

  /** This rank's weights, shape `[P]`, in `flat`. */
  async read(flat = this.allocate()): Promise<Float32Array<ArrayBuffer>> {
    await this.#layout.read(this.#variables, flat);
    return flat;
  }

  write(flat: Float32Array): void {
    this.#layout.write(flat, this.#variables);
  }

  /** The mean of all ranks' weights, shape `[P]`, in `flat`. */
  async mean(own: Float32Array, flat = this.allocate()): Promise<Float32Array> {
    return await this.#group.allReduce(own, 'mean', flat);
  }
}

/** Variables whose values are together at least `partLength`; the last ones may have fewer. */
function inParts(variables: readonly Variable[]): Variable[][] {
  const parts: Variable[][] = [];
  let length = Infinity;
  for (const variable of variables) {
    if (length >= partLength) {
      parts.push([]);
      length = 0;
    }
    parts[parts.length - 1].push(variable);
    length += variable.size;
  }
  return parts;
}

/** 4 MiB */
const partLength = 2 ** 20;
