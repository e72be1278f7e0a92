import { readFileSync } from 'node:fs';
import { createDataset, type Dataset, type LayersModel, type SymbolicTensor, tf } from 'tutti-ensembles';
import { decodeSafetensors, type NamedTensor } from '../../../core/safetensors/safetensors.ts';
import { goldenFile } from '../../golden/read-golden.ts';

const layerNames = ['conv1', 'conv2', 'fc1', 'fc2'] as const;

/** Tensors by name, as recorded by `make_joint_golden.py`. */
export type Golden = ReadonlyMap<string, NamedTensor>;

export function readGolden(seed: number): Golden {
  return readTensors(`joint-${seed}.safetensors`);
}

/** The distance of PyTorch's float32 from the golden file's float64. */
export function float32Errors(seed: number): { firstSteps: number; laterLoss: number; laterWeight: number } {
  const { metadata } = readFile(`joint-${seed}.safetensors`);
  const [firstSteps, laterLoss, laterWeight] = ['FirstSteps', 'LaterLoss', 'LaterWeight'].map((name) =>
    Number(metadata[`float32${name}`]),
  );
  return { firstSteps, laterLoss, laterWeight };
}

/**
 * 1000 images of handwritten digits (UCI Machine Learning Repository, https://doi.org/10.24432/C50P49, CC BY 4.0), from
 * −1 to 1.
 */
export function digits(): Dataset {
  const tensors = readTensors('digits.safetensors');
  return createDataset({
    name: 'digits',
    featureShape: [8, 8, 1],
    features: Float32Array.from(numbersOf(tensors, 'images'), (pixel) => pixel / 8 - 1),
    targets: Int32Array.from(numbersOf(tensors, 'labels')),
    classCount: 10,
  });
}

/** A tensor's values. @throws if there is none with that name */
export function numbersOf(golden: Golden, name: string): number[] {
  const tensor = golden.get(name);
  if (tensor === undefined) throw new Error(`The golden file has no "${name}". Record it with make_joint_golden.py.`);
  return Array.from(tensor.data, Number);
}

/** Several experts predict the mean of their logits: a product of experts in one computational graph. */
export function createExperts(experts: readonly number[]): LayersModel {
  const input = tf.input({ shape: [8, 8, 1] });
  const logits = experts.map((expert) => expertLogits(input, expert));
  const outputs = logits.length === 1 ? logits : tf.layers.average().apply(logits);
  return tf.model({ inputs: input, outputs: outputs as SymbolicTensor });
}

function expertLogits(input: SymbolicTensor, expert: number): SymbolicTensor {
  const options = (layer: string) => ({ name: `${layer}_${expert}`, activation: 'relu' as const });
  const convolution = { kernelSize: 3, strides: 2 };
  const layers = [
    tf.layers.conv2d({ ...options('conv1'), ...convolution, filters: 3 }),
    tf.layers.conv2d({ ...options('conv2'), ...convolution, filters: 6 }),
    tf.layers.flatten(),
    tf.layers.dense({ ...options('fc1'), units: 10 }),
    tf.layers.dense({ name: `fc2_${expert}`, units: 10 }),
  ];
  return layers.reduce((tensor, layer) => layer.apply(tensor) as SymbolicTensor, input);
}

/** Pairs every weight of a model's experts with the tensor recorded under `<kind>/conv1/kernel` and so on. */
export function* recordedWeights(model: LayersModel, experts: readonly number[], golden: Golden, kind: string) {
  for (const layer of layerNames) {
    for (const [part, of] of ['kernel', 'bias'].entries()) {
      const values = numbersOf(golden, `${kind}/${layer}/${of}`);
      for (const expert of experts) {
        const weight = model.getLayer(`${layer}_${expert}`).weights[part];
        const { size } = weight.read();
        yield { weight, values: values.slice(expert * size, (expert + 1) * size) };
      }
    }
  }
}

/** Sets a model's experts to the weights recorded as `kind`. */
export function loadWeights(model: LayersModel, experts: readonly number[], golden: Golden, kind: string): void {
  for (const { weight, values } of recordedWeights(model, experts, golden, kind)) {
    tf.tidy(() => void weight.write(tf.tensor(values, weight.shape as number[])));
  }
}

function readTensors(file: string): Golden {
  const { tensors } = readFile(file);
  return new Map(tensors.map((tensor) => [tensor.name, tensor]));
}

function readFile(file: string): ReturnType<typeof decodeSafetensors> {
  return decodeSafetensors(readFileSync(goldenFile(`joint/${file}`)));
}
