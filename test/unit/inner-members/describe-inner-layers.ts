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
export async function expectClose(found: Tensor, expected: Values, what: string): Promise<void> {
  expect(found.shape, what).toEqual(expected.shape);
  const values = await found.data();
  const scale = Math.max(1, ...expected.data.map(Math.abs));
  const errors = expected.data.map((value, i) => Math.abs(values[i] - value) / scale);
  // A NaN fails too.
  expect(
    errors.every((error) => error < bound),
    `${what}: ${Math.max(...errors)}`,
  ).toBe(true);
}

async function expectLayer({ kind, options, x, weights, y, dy, gradients }: LayerCase): Promise<void> {
  const { members, ...own } = options;
  const input = tf.input({ shape: x.shape.slice(1) });
  const layer = batchEnsemble({ members })[kind](own);
  const model = tf.model({ inputs: input, outputs: layer.apply(input) as SymbolicTensor });
  model.setWeights(weights.map(tensorOf));
  const values = tf.variable(tensorOf(x));
  const variables = [values, ...model.trainableWeights.map((weight) => weight.read() as Variable)];
  const apply = (): Tensor => model.apply(values, { training: true }) as Tensor;
  const { grads } = tf.variableGrads(() => tf.sum(tf.mul(apply(), tensorOf(dy))) as Scalar, variables);
  await expectClose(apply(), y, 'value');
  for (const [i, { name }] of variables.entries()) await expectClose(grads[name], gradients[i], `gradient ${i}`);
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

async function expectMimo(testCase: MimoCase): Promise<void> {
  const { options, order, x, labels, loss, gradients, mean } = testCase;
  const [model, first] = mimoNetwork(testCase);
  await expectClose(tf.softmax(model.apply(tensorOf(x), { training: false }) as Tensor), mean, 'mean');
  const drawn = order.map((own) => rowsOf(own, labels.length));
  vi.spyOn(first as unknown as { drawOrders(): Int32Array[] }, 'drawOrders').mockReturnValue(drawn);
  const targets = tf.tile(tf.tensor1d(labels, 'int32'), [options.members * options.batchRepetitions]);
  const variables = model.trainableWeights.map((weight) => weight.read() as Variable);
  const { value, grads } = tf.variableGrads(() => {
    const logits = model.apply(tensorOf(x), { training: true }) as Tensor;
    return crossEntropyLoss(logits, targets);
  }, variables);
  await expectClose(value, { shape: [], data: [loss] }, 'loss');
  for (const [i, { name }] of variables.entries()) await expectClose(grads[name], gradients[i], `gradient ${i}`);
}

/** Where the tests run. */
interface Place {
  /** Why they cannot run; null if they can. */
  missing?: string | null;
  /** Only each n-th case, on a slow backend. */
  every?: number;
}

/** Compares layers of inner members with torch-uncertainty in float64, with all gradients. */
export function describeInnerLayers(backend: BackendKind, { missing = null, every = 1 }: Place = {}): void {
  const chosen = <T>(cases: readonly T[]): T[] => cases.filter((_, i) => i % every === 1 % every);
  describe.skipIf(missing !== null)(`layers of inner members on ${backend}${notRun(missing)}`, () => {
    beforeAll(async () => {
      await startBackend(backend);
      tf.engine().startScope();
    });
    afterAll(() => tf.engine().endScope());

    const ofLayers = chosen(golden.layers).map((own) => [own.kind, JSON.stringify(own.options), own] as const);
    it.each(ofLayers)('of BatchEnsemble equal torch-uncertainty: %s %s', (_kind, _options, own) => expectLayer(own));

    const ofNetworks = chosen(golden.mimo).map((own) => [JSON.stringify(own.options), own] as const);
    it.each(ofNetworks)('of MIMO train as with the order of torch-uncertainty: %s', (_, own) => expectMimo(own));
  });
}
