import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { type LayersModel, type SymbolicTensor, tf } from '../../workers/tensorflow/tf.ts';
import { taskOf } from '../../workers/member/tasks.ts';
import { adam, images, type TrainingCase } from './networks.ts';

/** `shape` is that of a sample, channels last. `bench/peers/layers.py` has the same layers in PyTorch. */
const layerSchema = z.object({
  layer: z.string(),
  options: z.record(z.string(), z.number()),
  batch: z.int(),
  shape: z.array(z.int()),
});
type MeasuredLayer = z.output<typeof layerSchema>;

const layers = z.array(layerSchema).parse(JSON.parse(readFileSync(join(import.meta.dirname, 'layers.json'), 'utf8')));

/** What the layers suite measures, in this order: each layer with a dense layer of 10 behind it, trained by Adam. */
export const layerNames: readonly string[] = layers.map(({ layer, options, batch, shape }) => {
  const settings = Object.entries(options).map(([name, value]) => `${name} ${value}`);
  return [layer, ...settings, `[${[batch, ...shape].join(', ')}]`].join(', ');
});

/** These as `layer-<index>`. */
export const layerCases: Readonly<Record<string, TrainingCase>> = Object.fromEntries(
  layers.map((measured, i): [string, TrainingCase] => [
    `layer-${i}`,
    {
      model: () => modelOf(measured),
      task: taskOf('classification'),
      optimizer: adam,
      batch: () => images(measured.batch, measured.shape),
    },
  ]),
);

type Factory = (options: object) => { apply(x: SymbolicTensor | SymbolicTensor[]): unknown };

function modelOf(measured: MeasuredLayer): LayersModel {
  const input = tf.input({ shape: measured.shape });
  let y = outputOf(measured, input);
  if (y.shape.length > 2) y = tf.layers.flatten().apply(y) as SymbolicTensor;
  return tf.model({ inputs: input, outputs: tf.layers.dense({ units: 10 }).apply(y) as SymbolicTensor });
}

const activations = ['relu', 'elu', 'gelu', 'swish', 'softmax'];
const recurrent = ['lstm', 'gru', 'simpleRNN'];

function outputOf({ layer, options }: MeasuredLayer, x: SymbolicTensor): SymbolicTensor {
  const apply = (name: string, settings: object, inputs: SymbolicTensor | SymbolicTensor[] = x): SymbolicTensor =>
    (tf.layers as unknown as Record<string, Factory>)[name](settings).apply(inputs) as SymbolicTensor;
  if (activations.includes(layer)) return apply('activation', { activation: layer });
  if (layer === 'add') return apply('add', {}, [x, apply('activation', { activation: 'relu' })]);
  if (layer === 'attention') return attention(options.units, apply);
  if (layer === 'dense') return apply('dense', { ...options, activation: 'relu' });
  if (recurrent.includes(layer)) {
    return apply(layer, { ...options, ...(layer === 'simpleRNN' ? {} : { recurrentActivation: 'sigmoid' }) });
  }
  return apply(layer, /conv/i.test(layer) ? { ...options, padding: 'same', activation: 'relu' } : options);
}

/** softmax(q kᵀ) v of one head, with q, k and v from dense layers. */
function attention(
  units: number,
  apply: (name: string, settings: object, inputs?: SymbolicTensor | SymbolicTensor[]) => SymbolicTensor,
): SymbolicTensor {
  const [query, key, value] = [0, 1, 2].map(() => apply('dense', { units }));
  const weights = apply('softmax', {}, apply('dot', { axes: [2, 2] }, [query, key]));
  return apply('dot', { axes: [2, 1] }, [weights, value]);
}
