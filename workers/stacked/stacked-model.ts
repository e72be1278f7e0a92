import type { LayersModel, Tensor } from '../tensorflow/tf.ts';
import { graphOf, type ModelGraph } from './model-graph.ts';
import type { Draw, StackedLayer } from './stacked-kinds.ts';
import { stackLayer } from './stacked-layers.ts';
import type { StackedVariable } from './stacked-variable.ts';

/** The models of M members with the same architecture, with one forward pass for all of them; for training only. */
export class StackedModel {
  /** The stacked weights. Other weights remain in the members' models. */
  readonly weights: readonly StackedVariable[];
  private readonly graph: ModelGraph;
  /** By index in `model.layers`. */
  private readonly layers: ReadonlyMap<number, StackedLayer>;

  constructor(models: readonly LayersModel[], draws: readonly Draw[]) {
    this.graph = graphOf(models[0]);
    const used = new Set(this.graph.calls.map(({ layer }) => layer));
    const stackAt = (at: number): StackedLayer =>
      stackLayer(
        models.map((model) => model.layers[at]),
        draws,
      );
    this.layers = new Map([...used].map((at) => [at, stackAt(at)]));
    this.weights = [...this.layers.values()].flatMap(({ weights }) => weights);
  }

  /** Maps features `[M, B, ...]`, or shared features `[1, B, ...]`, to outputs `[M, B, ...]`. */
  forward(features: Tensor): Tensor[] {
    const values = new Map([[this.graph.input, features]]);
    const valueOf = (number: number): Tensor => found(values.get(number), `value ${number}`);
    for (const { layer, inputs, outputs } of this.graph.calls) {
      const results = found(this.layers.get(layer), `layer ${layer}`).apply(inputs.map(valueOf));
      outputs.forEach((number, i) => values.set(number, results[i]));
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
