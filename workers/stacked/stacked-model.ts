import type { LayersModel, Tensor } from '../tensorflow/tf.ts';
import { graphOf, type Layer, type ModelGraph } from '../tensorflow/model-graph.ts';
import { type Masks, outputMasks } from './stacked-masks.ts';
import type { Draw, StackedLayer } from './stacked-kinds.ts';
import { stackLayer } from './stacked-layers.ts';
import type { StackedVariable } from './stacked-variable.ts';

/** The models of M members with the same architecture, with one forward pass for all of them; for training only. */
export class StackedModel {
  /** The stacked weights. Other weights remain in the members' models. */
  readonly weights: readonly StackedVariable[];
  private readonly graph: ModelGraph;
  /** The stacked layers, by index in `model.layers`. */
  private readonly layers: ReadonlyMap<number, StackedLayer>;
  /** The members' layers, by the same index. */
  private readonly sources: ReadonlyMap<number, readonly Layer[]>;

  constructor(models: readonly LayersModel[], draws: readonly Draw[]) {
    this.graph = graphOf(models[0]);
    const used = new Set(this.graph.calls.map(({ layer }) => layer));
    this.sources = new Map([...used].map((at) => [at, models.map((model) => model.layers[at])]));
    this.layers = new Map([...this.sources].map(([at, layers]) => [at, stackLayer(layers, draws)]));
    this.weights = [...this.layers.values()].flatMap(({ weights }) => weights);
  }

  /** Maps the model's inputs `[M, B, ...]`, or shared ones `[1, B, ...]`, to outputs `[M, B, ...]`. */
  forward(inputs: readonly Tensor[]): Tensor[] {
    const values = new Map(this.graph.inputs.map((number, i) => [number, inputs[i]]));
    const masks = new Map<number, Masks | null>();
    const valueOf = (number: number): Tensor => found(values.get(number), `value ${number}`);
    // TensorFlow.js gives a layer the mask of its first input, and the last one to layers whose inputs have none.
    let given: Masks | null = null;
    for (const call of this.graph.calls) {
      const own = call.inputs.map(valueOf);
      const ofInputs = call.inputs.map((number) => masks.get(number) ?? null);
      if (ofInputs.some((mask) => mask !== null)) [given] = ofInputs;
      const results = found(this.layers.get(call.layer), `layer ${call.layer}`).apply(own, given);
      const mask = outputMasks(found(this.sources.get(call.layer), `layer ${call.layer}`), own, ofInputs);
      call.outputs.forEach((number, i) => {
        values.set(number, results[i]);
        masks.set(number, mask);
      });
    }
    return this.graph.outputs.map(valueOf);
  }

  dispose(): void {
    for (const weight of this.weights) weight.dispose();
  }
}

function found<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`The stacked model uses ${what} before it was computed.`);
  return value;
}
