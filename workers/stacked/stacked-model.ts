import type { LayersModel, Tensor } from '../tensorflow/tf.ts';
import { graphOf, type ModelGraph } from './model-graph.ts';
import type { Draw, StackedLayer } from './stacked-kinds.ts';
import { stackLayer } from './stacked-layers.ts';
import type { StackedVariable } from './stacked-variable.ts';

/** The models of M members, built alike, as one that goes forward for all of them; for training only. */
export class StackedModel {
  /** What members have in one variable. Other weights are the members' own still. */
  readonly weights: readonly StackedVariable[];
  private readonly graph: ModelGraph;
  /** By their position among a model's layers. */
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

  /** From features `[M, B, ...]`, or `[1, B, ...]` that all members share, to outputs `[M, B, ...]`. */
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
  if (value === undefined) throw new Error(`The stacked model uses ${what} before it is there.`);
  return value;
}
