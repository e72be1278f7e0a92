import type { NamedTensor } from '../../core/safetensors/safetensors.ts';
import { describeDifference } from '../tensorflow/topology.ts';

/**
 * The mean of weights by name. Batch normalization's running statistics are averaged too, and computed again for members (`meanDraft`).
 *
 * Source: Wortsman et al., "Model soups: averaging weights of multiple fine-tuned models improves accuracy without increasing inference
 * time", ICML 2022.
 *
 * @param models weights of models of the same architecture, float32
 */
export function averageWeights(models: readonly (readonly NamedTensor[])[]): NamedTensor[] {
  const byName = models.map((tensors) => new Map(tensors.map((tensor) => [tensor.name, tensor.data])));
  return models[0].map(({ name, shape, data }) => {
    const sum = new Float64Array(data.length);
    for (const tensors of byName) {
      const own = tensors.get(name) as Float32Array;
      for (let i = 0; i < sum.length; i++) sum[i] += own[i];
    }
    return { name, dtype: 'F32', shape: [...shape], data: Float32Array.from(sum, (value) => value / models.length) };
  });
}

/** How two architectures differ in what their weights mean: initial values and seeds do not count. @returns null if in nothing */
export function architectureDifference(one: string, other: string): string | null {
  return describeDifference(withoutStart(one), withoutStart(other));
}

function withoutStart(topology: string): string {
  return JSON.stringify(JSON.parse(topology, (key, value: unknown) => (isOfStart(key) ? undefined : value)));
}

const isOfStart = (key: string): boolean => key === 'seed' || key.endsWith('_initializer');
