import { beforeAll, describe, expect, it } from 'vitest';
import { startBackend } from '../../../workers/backends/backend.ts';
import { createDataset } from '../../../workers/data/dataset.ts';
import { type LayersModel, tf } from '../../../workers/tensorflow/tf.ts';
import { taskOf } from '../../../workers/member/tasks.ts';
import { classCount, noteOnAbsent, requireLabels } from '../../../workers/member/tasks/checks.ts';

beforeAll(async () => void (await startBackend('cpu')));

const features = Float32Array.of(0, 1, 2, 3);
const labelled = (classCount: number) =>
  createDataset({ name: 'labels', featureShape: [2], features, targets: Int32Array.of(0, 1), classCount });
const valued = createDataset({ name: 'values', featureShape: [2], features, targets: Float32Array.of(0, 1) });

type Activation = 'linear' | 'softmax' | 'sigmoid' | 'hardSigmoid' | 'softplus' | 'relu' | 'tanh';
const dense = (units: number, activation?: Activation) => tf.layers.dense({ units, activation, inputShape: [2] });

function sequential(...layers: ReturnType<typeof tf.layers.dense>[]): LayersModel {
  return tf.sequential({ layers });
}

/** A model whose last layer is a model. */
function nested(inner: LayersModel): LayersModel {
  const input = tf.input({ shape: [2] });
  return tf.model({ inputs: input, outputs: inner.apply(input) as ReturnType<typeof tf.input> });
}

const activation = (name: Activation) => tf.layers.activation({ activation: name }) as never;

describe('a classifier that ends in probabilities', () => {
  it.each([
    ['dense', () => sequential(dense(3, 'softmax'))],
    ['an activation layer', () => sequential(dense(3), activation('softmax'))],
    ['a softmax layer', () => sequential(dense(3), tf.layers.softmax() as never)],
    ['before a dropout', () => sequential(dense(3, 'softmax'), tf.layers.dropout({ rate: 0.1 }) as never)],
    ['before a reshape', () => sequential(dense(3, 'softmax'), tf.layers.reshape({ targetShape: [3] }) as never)],
    ['a nested model', () => nested(sequential(dense(3, 'softmax')))],
    ['a model in a model in a model', () => nested(nested(sequential(dense(3), activation('softmax'))))],
    ['a sequential model that ends in a model', () => sequential(sequential(dense(3, 'softmax')) as never)],
  ])('is refused: softmax in %s', (_name, build) => {
    expect(() => taskOf('classification').check(build(), labelled(3))).toThrow(
      "The model's output ends in softmax, but the task needs logits",
    );
  });

  it.each(['sigmoid', 'hardSigmoid'] as const)('is refused in a binary task: %s', (name) => {
    expect(() => taskOf('binary').check(sequential(dense(1, name)), labelled(2))).toThrow(
      `The model's output ends in ${name}, but the task needs logits: its loss and its predictions apply sigmoid`,
    );
  });

  it('is accepted with logits, whatever activations precede them', () => {
    const models = [
      sequential(dense(3)),
      sequential(dense(4, 'softmax'), dense(3)),
      nested(sequential(dense(3, 'linear'))),
    ];
    for (const model of models) expect(() => taskOf('classification').check(model, labelled(3))).not.toThrow();
    expect(() => taskOf('binary').check(sequential(dense(1)), labelled(2))).not.toThrow();
    expect(() => taskOf('regression').check(sequential(dense(1, 'sigmoid')), valued)).not.toThrow();
  });
});

describe('a variance', () => {
  function twoHeads(name: Activation): LayersModel {
    const input = tf.input({ shape: [2] });
    const head = (of: Activation) => dense(1, of).apply(input) as typeof input;
    return tf.model({ inputs: input, outputs: [head('linear'), head(name)] });
  }

  it.each(['linear', 'tanh', 'relu'] as const)('that ends in %s is refused because it can be 0 or negative', (name) => {
    expect(() => taskOf('heteroscedastic-regression').check(twoHeads(name), valued)).toThrow(
      `The model's second output, the variance, ends in the activation ${name}, which can be 0 or negative`,
    );
  });

  it('that ends in softplus is accepted', () => {
    expect(() => taskOf('heteroscedastic-regression').check(twoHeads('softplus'), valued)).not.toThrow();
  });
});

describe('an output of the wrong shape', () => {
  it.each([
    ['too few classes', () => sequential(dense(2)), '[B, 2]'],
    ['too many', () => sequential(dense(4)), '[B, 4]'],
    ['one more axis', () => sequential(dense(3), tf.layers.reshape({ targetShape: [3, 1] }) as never), '[B, 3, 1]'],
  ])('is refused: %s', (_what, build, shape) => {
    const check = (): void => taskOf('classification').check(build(), labelled(3));
    expect(check).toThrow(`The model's output has shape ${shape}, but the task needs`);
  });
});

it('a label outside the classes is refused, naming its sample and the range', () => {
  const threeClasses = createDataset({
    name: 'labels',
    featureShape: [1],
    features: Float32Array.of(0, 0, 0),
    targets: Int32Array.of(0, 1, 2),
    classCount: 3,
  });
  const check = (): void => taskOf('binary').check(sequential(dense(1)), threeClasses);
  expect(check).toThrow('Label 2 of sample 2 in labels is not in 0..1. Correct the data, or the classCount (2).');
});

describe('classes', () => {
  const labelled = (targets: number[], more: object = {}) =>
    createDataset({
      name: 'animals',
      featureShape: [1],
      features: new Float32Array(targets.length),
      targets: Int32Array.from(targets),
      classNames: ['cat', 'dog', 'cow'],
      ...more,
    });

  it('are two at least', () => {
    const one = labelled([0, 0], { classNames: ['cat'] });
    const values = createDataset({
      name: 'd',
      featureShape: [1],
      features: Float32Array.of(1),
      targets: Float32Array.of(28.7),
    });
    expect(() => classCount(values)).toThrow('its targets are numbers. Choose the task regression, or targetKind');
    expect(() => classCount(one)).toThrow(
      'animals has one class, "cat": there is nothing to tell apart, and every model would have a loss of 0. ' +
        'Add samples of a second class.',
    );
    expect(() => requireLabels(labelled([0], { classNames: undefined, classCount: 1 }), 2)).toThrow('has one class:');
  });

  it('without a sample that counts are named', () => {
    const note = (
      targets: number[],
      more: object = {},
      task: 'classification' | 'binary' | 'regression' = 'classification',
    ) => noteOnAbsent(labelled(targets, more), task, 'They are not learnt.');
    expect(note([0, 1, 2])).toBeNull();
    expect(note([0, 2, 0])).toBe('"animals" has no sample of the class dog. They are not learnt.');
    expect(note([2, 1], { mask: Uint8Array.of(1, 0) })).toBe(
      '"animals" has no sample of 2 classes: cat, dog. They are not learnt.',
    );
    expect(note([2, 1, 0], { weights: Float32Array.of(1, 1, 0) })).toContain('the class cat');
    expect(note([1, 1], { classNames: undefined }, 'binary')).toContain('the class 0.');
    expect(note([1, 1], {}, 'regression')).toBeNull();
  });

  it('of several targets, those without a value that counts are named', () => {
    const fields = { name: 'assays', featureShape: [1], features: Float32Array.of(1, 2), targets: new Float32Array(6) };
    const note = (more: object, names?: string[]) =>
      noteOnAbsent(createDataset({ ...fields, ...more }), 'regression', 'They are not learnt.', names);
    expect(note({})).toBeNull();
    expect(note({ mask: Uint8Array.of(1, 0, 0, 0, 1, 1) })).toBeNull();
    expect(note({ mask: Uint8Array.of(1, 0, 0, 1, 0, 1) }, ['a', 'b', 'c'])).toBe(
      '"assays" has no value of the target b. They are not learnt.',
    );
    const weights = Float32Array.of(1, 0);
    expect(note({ mask: Uint8Array.of(1, 0, 0, 1, 1, 1), weights })).toContain('no value of 2 targets: 1, 2.');
  });
});
