import { beforeAll, describe, expect, it } from 'vitest';
import { startBackend } from '../../../../workers/backends/backend.ts';
import { runSequence } from '../../../../workers/backends/wasm/recurrent/run-sequence.ts';
import { activationCodes } from '../../../../workers/backends/wasm/recurrent/sequence.ts';
import { Generator } from '../../../../workers/random/index.ts';
import { tf, type Tensor } from '../../../../workers/tensorflow/tf.ts';
import { gru, lstm, type Recurrent, simpleRnn } from '../../../reference/recurrent.ts';
import { gradientsOf, Value } from '../../../reference/value.ts';

beforeAll(async () => void (await startBackend('wasm')));

const references = { simpleRNN: simpleRnn, gru, lstm };
type Kind = keyof typeof references;
const states = { simpleRNN: 1, gru: 1, lstm: 2 };

/** A drawn layer with its inputs: x, the weights, and the initial state, in this order. */
function draw(kind: Kind, seed: number) {
  const random = new Generator(seed, kind);
  const size = (most: number): number => 1 + random.integer(most);
  const [batch, length, inputs, units] = [size(4), size(6), size(5), size(9)];
  const gates = { simpleRNN: 1, gru: 3, lstm: 4 }[kind];
  const shapes = [
    [batch, length, inputs],
    [inputs, gates * units],
    [units, gates * units],
    [gates * units],
    ...Array.from({ length: states[kind] }, () => [batch, units]),
  ];
  const values = shapes.map((shape) => ({
    shape,
    data: Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => random.normal() * 0.7),
  }));
  const mask = Array.from({ length: batch }, () => Array.from({ length }, () => (random.uniform() < 0.7 ? 1 : 0)));
  const dropout = Array.from({ length: batch * units }, () => (random.uniform() < 0.3 ? 0 : 1 / 0.7));
  const returnSequences = random.uniform() < 0.5;
  const goBackwards = random.uniform() < 0.5;
  const activation = (['tanh', 'relu', 'linear', 'sigmoid'] as const)[random.integer(4)];
  const recurrentActivation = (['sigmoid', 'hardSigmoid'] as const)[random.integer(2)];
  return {
    values,
    mask,
    dropout: { shape: [batch, units], data: dropout },
    units,
    options: { returnSequences, goBackwards, activation, recurrentActivation },
  };
}

type Drawn = ReturnType<typeof draw>;

/** The layer's op under TensorFlow.js, with tensors in place of its variables. */
function applyLayer(kind: Kind, { units, options, mask }: Drawn, [x, ...others]: Tensor[]): Tensor {
  const { recurrentActivation, ...common } = options;
  const layer = tf.layers[kind]({
    units,
    ...common,
    ...(kind === 'simpleRNN' ? {} : { recurrentActivation }),
  });
  layer.build(x.shape);
  const read = layer.trainableWeights.map((weight) => weight.read());
  layer.trainableWeights.forEach((weight, i) => Object.assign(weight, { val: others[i] }));
  tf.dispose(read);
  const callOptions = { mask: tf.tensor2d(mask, undefined, 'bool'), initialState: others.slice(3), training: true };
  return layer.call(x, callOptions) as Tensor;
}

/** The same by the layer's op alone, which also takes factors of dropout on the state. */
function applyWithDropout(kind: Kind, { options, mask, dropout }: Drawn, inputs: Tensor[]): Tensor {
  const [x, kernel, recurrent, bias, ...initialState] = inputs;
  const codeOf = (name: string): number => activationCodes.get(name) ?? NaN;
  return runSequence({
    kind,
    x,
    kernel,
    recurrent,
    bias,
    initialState,
    mask: tf.tensor2d(mask, undefined, 'bool'),
    dropout: tf.tensor(dropout.data, dropout.shape),
    activation: codeOf(options.activation),
    gateActivation: codeOf(kind === 'simpleRNN' ? options.activation : options.recurrentActivation),
    goBackwards: options.goBackwards,
    returnSequences: options.returnSequences,
    returnState: false,
  }).output;
}

const slopeOf = (i: number): number => 0.5 + ((i * 7) % 5) / 4 - ((i * 3) % 2);

function largestError(found: ArrayLike<number>, expected: ArrayLike<number>): number {
  return Math.max(...Array.from(expected, (value, i) => Math.abs(value - found[i]) / Math.max(1, Math.abs(value))));
}

describe.each(['simpleRNN', 'gru', 'lstm'] as const)('%s over whole sequences', (kind) => {
  it.each(Array.from({ length: 12 }, (_, seed) => [seed, seed % 2 === 1] as const))(
    'has the value and gradients of the definition, with a mask and an initial state (draw %i, dropout: %s)',
    async (seed, drops) => {
      const drawn = draw(kind, seed);
      const values = drawn.values.map(({ data, shape }) => new Value(data, shape));
      const [x, kernel, recurrent, bias, ...initialState] = values;
      const dropout = drops ? { dropout: new Value(drawn.dropout.data, drawn.dropout.shape) } : {};
      const options: Recurrent = { ...drawn.options, ...dropout, units: drawn.units, mask: drawn.mask, initialState };
      const expected = references[kind](x, [kernel, recurrent, bias], options);
      const gradients = gradientsOf(
        expected,
        expected.data.map((_, i) => slopeOf(i)),
        values,
      );

      const tensors = drawn.values.map(({ data, shape }) => tf.tensor(data, shape));
      const apply = (...inputs: Tensor[]): Tensor => (drops ? applyWithDropout : applyLayer)(kind, drawn, inputs);
      const y = apply(...tensors);
      const slopes = tf.tensor(
        Float32Array.from({ length: y.size }, (_, i) => slopeOf(i)),
        y.shape,
      );
      const found = tf.grads(apply)(tensors, slopes);
      expect(y.shape).toEqual(expected.shape);
      expect(largestError(await y.data(), expected.data)).toBeLessThan(3e-6);
      for (const [i, gradient] of found.entries()) {
        expect(largestError(await gradient.data(), gradients[i]), `gradient of input ${i}`).toBeLessThan(2e-5);
      }
    },
  );

  it('returns the last states, with gradients through them', async () => {
    const { values, units } = draw(kind, 3);
    const [x] = values.map(({ data, shape }) => tf.tensor(data, shape));
    const layer = tf.layers[kind]({ units, returnSequences: true, returnState: true });
    const [sequence, ...last] = layer.apply(x) as Tensor[];
    expect(last).toHaveLength(states[kind]);
    const [, length] = sequence.shape;
    const lastRow = tf.reshape(tf.slice(sequence, [0, length - 1, 0], [-1, 1, units]), last[0].shape);
    expect(await last[0].data()).toEqual(await lastRow.data());
    const through = (output: (outputs: Tensor[]) => Tensor) =>
      tf
        .grad((input: Tensor) => tf.sum(output(layer.apply(input) as Tensor[])))(x)
        .data();
    const ofState = await through(([, h]) => h);
    const ofSequence = await through(([all]) => tf.slice(all, [0, length - 1, 0], [-1, 1, units]));
    expect(ofState).toEqual(ofSequence);
  });

  it('drops out in training alone, by other masks at each call, and as one op', async () => {
    const layer = tf.layers[kind]({ units: 30, dropout: 0.4, recurrentDropout: 0.4 });
    const x = tf.ones([8, 4, 5]);
    const call = (training: boolean) => (layer.apply(x, { training }) as Tensor).data();
    expect(await call(false)).toEqual(await call(false));
    expect(await call(true)).not.toEqual(await call(true));
    const { kernelNames } = await tf.profile(() => layer.apply(x, { training: true }) as Tensor);
    expect(kernelNames.filter((name) => name.endsWith('Sequence'))).toHaveLength(1);
  });

  it('runs as one op, whatever the length of the sequence', async () => {
    const layer = tf.layers[kind]({ units: 3, recurrentActivation: 'sigmoid' });
    const kernelsFor = async (length: number): Promise<string[]> => {
      const { kernelNames } = await tf.profile(() => layer.apply(tf.ones([2, length, 4])) as Tensor);
      return kernelNames;
    };
    await kernelsFor(2);
    expect(await kernelsFor(9)).toEqual(await kernelsFor(3));
  });
});

it('passes the gradient of the last cell of an LSTM', async () => {
  const { values, units } = draw('lstm', 7);
  const [x] = values.map(({ data, shape }) => tf.tensor(data, shape));
  const layer = tf.layers.lstm({ units, returnState: true, recurrentActivation: 'sigmoid' });
  const ofCell = (input: Tensor): Tensor => tf.sum((layer.apply(input) as Tensor[])[2]);
  const gradient = await tf.grad(ofCell)(x).data();
  // Central differences of the sum of c, in float32.
  const step = 1e-2;
  for (const i of [0, values[0].data.length - 1]) {
    const moved = [1, -1].map((sign) =>
      ofCell(
        tf.tensor(
          values[0].data.map((value, j) => (j === i ? value + sign * step : value)),
          values[0].shape,
        ),
      ).dataSync(),
    );
    expect(gradient[i]).toBeCloseTo((moved[0][0] - moved[1][0]) / (2 * step), 2);
  }
});

describe('dropout of a recurrent layer', () => {
  const [batch, length, units, rate] = [40, 4, 50, 0.4];

  /** A linear layer with h = x + keep · h', of as many units as inputs. */
  function layerWith(keep: number, options: object) {
    const layer = tf.layers.simpleRNN({
      units,
      activation: 'linear',
      useBias: false,
      returnSequences: true,
      ...options,
    });
    layer.build([batch, length, units]);
    layer.built = true;
    layer.setWeights([tf.eye(units), tf.mul(tf.eye(units), keep)]);
    return (x: Tensor): Tensor => layer.apply(x, { training: true }) as Tensor;
  }

  /** Asserts that about the kept share of factors is not 0: within four standard deviations. */
  function expectShare(kept: readonly boolean[]): void {
    const share = kept.filter(Boolean).length / kept.length;
    expect(Math.abs(share - (1 - rate))).toBeLessThan(4 * Math.sqrt((rate * (1 - rate)) / kept.length));
  }

  it('multiplies the inputs of all steps by the same factors, 0 or 1 / (1 − rate), and their gradients', async () => {
    const apply = layerWith(0, { dropout: rate });
    let y = tf.scalar(0) as Tensor;
    const gradient = tf.grad((x: Tensor) => (y = tf.keep(apply(x))))(tf.ones([batch, length, units]));
    const rows = tf.transpose(y, [0, 2, 1]).arraySync() as number[][][];
    for (const steps of rows.flat()) {
      for (const factor of steps) expect(factor).toBeCloseTo(steps[0] === 0 ? 0 : 1 / (1 - rate), 5);
    }
    expectShare(rows.flat().map(([factor]) => factor !== 0));
    expect(await gradient.data()).toEqual(await y.data());
  });

  it('multiplies the state before each step by the same factors', () => {
    const apply = layerWith(1, { recurrentDropout: rate });
    const first = tf.ones([batch, 1, units]);
    const y = apply(tf.concat([first, tf.zeros([batch, length - 1, units])], 1));
    const rows = (tf.transpose(y, [0, 2, 1]).arraySync() as number[][][]).flat();
    for (const steps of rows) {
      const factor = steps[1] === 0 ? 0 : 1 / (1 - rate);
      steps.forEach((h, step) => expect(h).toBeCloseTo(factor ** step, 4));
    }
    expectShare(rows.map((steps) => steps[1] !== 0));
  });
});
