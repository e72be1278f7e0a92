import type { Convert, LayerContext } from './context.ts';

/** (x − mean) · γ / √(variance + ε) + β, with the moving moments of the training. */
const batchNormalization: Convert = (context) => {
  const { graph, x, rank, config } = context;
  const axis = positive([config.axis].flat()[0], rank);
  const variance = context.weight('moving_variance');
  const gamma = context.weightIfAny('gamma')?.data;
  const factor = variance.data.map((value, i) => (gamma?.[i] ?? 1) / Math.sqrt(value + config.epsilon));
  const shape = Array.from({ length: rank }, (_, i) => (i === axis ? factor.length : 1)).slice(axis);
  const stored = (name: string, data: Float32Array): string => context.stored(name, { shape, data });
  const centred = graph.op('Sub', [x, stored('moving_mean', context.weight('moving_mean').data)]);
  const scaled = graph.op('Mul', [centred, stored('factor', factor)]);
  const beta = context.weightIfAny('beta');
  return beta === null ? scaled : graph.op('Add', [scaled, stored('beta', beta.data)]);
};

/** (x − mean) / √(variance + ε) · γ + β, with the moments of each sample over the axes. */
const layerNormalization: Convert = (context) => {
  const { graph, x, rank, config } = context;
  const axes = [config.axis].flat().map((axis) => positive(axis, rank));
  const over = graph.integers(axes);
  const mean = (value: string): string => graph.op('ReduceMean', [value, over], { keepdims: 1 });
  const centred = graph.op('Sub', [x, mean(x)]);
  const variance = mean(graph.op('Mul', [centred, centred]));
  const deviation = graph.op('Sqrt', [graph.op('Add', [variance, graph.scalar(config.epsilon)])]);
  const y = scaleOf(context, axes, 'gamma', (scale) => graph.op('Mul', [graph.op('Div', [centred, deviation]), scale]));
  const normalized = y ?? graph.op('Div', [centred, deviation]);
  return scaleOf(context, axes, 'beta', (offset) => graph.op('Add', [normalized, offset])) ?? normalized;
};

/** Applies a weight of the normalized axes, where there is one. */
function scaleOf(
  context: LayerContext,
  axes: readonly number[],
  name: 'gamma' | 'beta',
  apply: (weight: string) => string,
): string | null {
  const weight = context.weightIfAny(name);
  if (weight === null) return null;
  const { shape: sizes, data } = weight;
  const shape = Array.from({ length: context.rank }, (_, axis) =>
    axes.includes(axis) ? sizes[axes.indexOf(axis)] : 1,
  );
  return apply(context.stored(name, { shape: shape.slice(Math.min(...axes)), data }));
}

function positive(axis: number, rank: number): number {
  return axis < 0 ? axis + rank : axis;
}

export const normalizationLayers: Readonly<Record<string, Convert>> = {
  BatchNormalization: batchNormalization,
  LayerNormalization: layerNormalization,
};
