import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type BackendKind, startBackend } from '../../../workers/backends/backend.ts';
import { batchEnsemble, mimo, tf } from '../../../workers/index.ts';
import { crossEntropyLoss } from '../../../workers/member/tasks.ts';
import type { MimoInputs } from '../../../workers/tensorflow/layers/inner/mimo.ts';
import type { LayersModel, Scalar, SymbolicTensor, Tensor, Variable } from '../../../workers/tensorflow/tf.ts';
import { notRun } from '../../environment/reasons.ts';
import { readGolden } from '../../golden/read-golden.ts';

export interface Values {
  shape: number[];
  data: number[];
}

/** A layer of torch-uncertainty and its gradients for the loss Σ y · dy, in float64. */
interface LayerCase {
  kind: 'dense' | 'conv2d';
  options: { members: number; units: number; filters: number; kernelSize: number[] };
  x: Values;
  weights: Values[];
  y: Values;
  dy: Values;
  /** Of x, then of each weight. */
  gradients: Values[];
}

/** A network that learns from the samples in the order of torch-uncertainty. */
export interface MimoCase {
  options: { members: number; batchRepetitions: number; inputRepetition: number };
  classes: number;
  hidden: number;
  /** For each member the sample in each row. */
  order: number[][];
  x: Values;
  labels: number[];
  weights: Values[];
  loss: number;
  gradients: Values[];
  /** Probabilities in inference, `[M, B, K]`, and their mean. */
  members: Values;
  mean: Values;
}

export const golden = readGolden('inner-members/inner-members.json') as { layers: LayerCase[]; mimo: MimoCase[] };
const bound = 1e-5;

export const tensorOf = ({ shape, data }: Values): Tensor => tf.tensor(data, shape);

/** max|a − b| / max(1, max|b|) is small, and the shapes are the same. */
export function expectClose(found: Tensor, expected: Values, what: string): void {
  expect(found.shape, what).toEqual(expected.shape);
  const values = found.dataSync();
  const scale = Math.max(1, ...expected.data.map(Math.abs));
  const errors = expected.data.map((value, i) => Math.abs(values[i] - value) / scale);
  // A NaN fails too.
  expect(
    errors.every((error) => error < bound),
    `${what}: ${Math.max(...errors)}`,
  ).toBe(true);
}

function expectLayer({ kind, options, x, weights, y, dy, gradients }: LayerCase): void {
  const { members, ...own } = options;
  const input = tf.input({ shape: x.shape.slice(1) });
  const layer = batchEnsemble({ members })[kind](own);
  const model = tf.model({ inputs: input, outputs: layer.apply(input) as SymbolicTensor });
  model.setWeights(weights.map(tensorOf));
  const values = tf.variable(tensorOf(x));
  const variables = [values, ...model.trainableWeights.map((weight) => weight.read() as Variable)];
  const loss = (): Scalar => {
    const output = model.apply(values, { training: true }) as Tensor;
    expectClose(output, y, 'value');
    return tf.sum(tf.mul(output, tensorOf(dy)));
  };
  const { grads } = tf.variableGrads(loss, variables);
  variables.forEach(({ name }, i) => expectClose(grads[name], gradients[i], `gradient ${i}`));
}

/** A network of two layers with the weights of a case, and its first layer. */
export function mimoNetwork({ options, classes, hidden, x, weights }: MimoCase): [LayersModel, MimoInputs] {
  const { inputs, heads, outputs } = mimo(options);
  const input = tf.input({ shape: x.shape.slice(1) });
  const first = inputs();
  const [rows, positions] = first.apply(input) as SymbolicTensor[];
  const features = tf.layers.dense({ units: hidden, activation: 'relu' }).apply(rows) as SymbolicTensor;
  const ofMembers = heads({ units: classes }).apply([features, positions]);
  const output = outputs({ task: 'classification' }).apply(ofMembers) as SymbolicTensor;
  const model = tf.model({ inputs: input, outputs: output });
  model.setWeights(weights.map(tensorOf));
  return [model, first as MimoInputs];
}

/** The rows of the repeated batch in an order of samples: the n-th time that sample b appears it is row n·B + b. */
function rowsOf(order: readonly number[], samples: number): Int32Array {
  const seen = new Map<number, number>();
  return Int32Array.from(order, (sample) => {
    const times = seen.get(sample) ?? 0;
    seen.set(sample, times + 1);
    return times * samples + sample;
  });
}

function expectMimo(testCase: MimoCase): void {
  const { options, order, x, labels, loss, gradients, mean } = testCase;
  const [model, first] = mimoNetwork(testCase);
  expectClose(tf.softmax(model.apply(tensorOf(x), { training: false }) as Tensor), mean, 'mean');
  const drawn = order.map((own) => rowsOf(own, labels.length));
  vi.spyOn(first as unknown as { drawOrders(): Int32Array[] }, 'drawOrders').mockReturnValue(drawn);
  const targets = tf.tile(tf.tensor1d(labels, 'int32'), [options.members * options.batchRepetitions]);
  const variables = model.trainableWeights.map((weight) => weight.read() as Variable);
  const { value, grads } = tf.variableGrads(() => {
    const logits = model.apply(tensorOf(x), { training: true }) as Tensor;
    return crossEntropyLoss(logits, targets);
  }, variables);
  expect(Math.abs(value.dataSync()[0] - loss)).toBeLessThan(bound);
  variables.forEach(({ name }, i) => expectClose(grads[name], gradients[i], `gradient ${i}`));
}

/** Compares layers of inner members with torch-uncertainty in float64, with all gradients. */
export function describeInnerLayers(backend: BackendKind, missing: string | null = null): void {
  describe.skipIf(missing !== null)(`layers of inner members on ${backend}${notRun(missing)}`, () => {
    beforeAll(async () => {
      await startBackend(backend);
      tf.engine().startScope();
    });
    afterAll(() => tf.engine().endScope());

    it.each(golden.layers.map((testCase) => [testCase.kind, JSON.stringify(testCase.options), testCase] as const))(
      'of BatchEnsemble equal torch-uncertainty: %s %s',
      (_kind, _options, testCase) => expectLayer(testCase),
    );

    it.each(golden.mimo.map((testCase) => [JSON.stringify(testCase.options), testCase] as const))(
      'of MIMO train as with the order of torch-uncertainty: %s',
      (_options, testCase) => expectMimo(testCase),
    );
  });
}
