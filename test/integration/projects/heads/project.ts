import { createDataset, defineProject, Generator, splitDataset, type SymbolicTensor, tf, z } from 'tutti-ensembles';

/** One model with three outputs: on which side of the diagonal a point lies, how far from the origin, and in which half. */
export default defineProject({
  name: 'Three outputs',
  description: 'Points in the plane: a class, a distance and another class.',
  task: 'classification',
  outputs: {
    distance: { task: 'regression', weight: 2 },
    half: { task: 'classification', classNames: ['below', 'above'] },
  },
  hyperparameters: z.object({}),
  defaults: { maxEpochs: 10, batchSize: 20, optimizer: { kind: 'adam', learningRate: 0.05 } },

  data({ seed }) {
    const generator = new Generator(seed, 'points');
    const features = Float32Array.from({ length: 600 }, () => 2 * generator.uniform() - 1);
    const each = <T>(of: (x: number, y: number) => T): T[] =>
      Array.from({ length: 300 }, (_, i) => of(features[2 * i], features[2 * i + 1]));
    const points = createDataset({
      name: 'points',
      featureShape: [2],
      features,
      targets: Int32Array.from(each((x, y) => Number(x > y))),
      classNames: ['left', 'right'],
      extraTargets: {
        distance: { shape: [1], values: Float32Array.from(each(Math.hypot)) },
        half: { shape: [], values: Uint8Array.from(each((_, y) => Number(y > 0))) },
      },
    });
    return splitDataset(points, { validation: 0.25, test: 0.25 }, new Generator(seed, 'split'));
  },

  model({ targetSize }) {
    const { dense } = tf.layers;
    const x = tf.input({ shape: [2] });
    const hidden = dense({ units: 24, activation: 'relu' }).apply(x);
    const outputs = [
      dense({ units: targetSize }),
      dense({ units: 1, name: 'distance' }),
      dense({ units: 2, name: 'half' }),
    ];
    return tf.model({ inputs: x, outputs: outputs.map((layer) => layer.apply(hidden) as SymbolicTensor) });
  },
});
