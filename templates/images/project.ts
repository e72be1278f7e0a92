import { defineProject, Generator, splitDataset, tf, z } from 'tutti-ensembles';
import { drawShapes } from './shapes.ts';

export default defineProject({
  name: 'My images',
  description: 'A small convolutional classifier of drawn shapes.',
  task: 'classification',
  hyperparameters: z.object({ filters: z.int().min(1).default(8).meta({ help: 'Filters of the first layer.' }) }),
  defaults: { members: 2, maxEpochs: 20, batchSize: 32, optimizer: { kind: 'adam', learningRate: 0.005 } },

  data: ({ seed }) => splitDataset(drawShapes(900, seed), { validation: 0.2, test: 0.2 }, new Generator(seed, 'split')),

  model({ hyperparameters: { filters }, featureShape, targetSize }) {
    const { conv2d, dense, flatten, maxPooling2d } = tf.layers;
    return tf.sequential({
      layers: [
        conv2d({ filters, kernelSize: 3, activation: 'relu', inputShape: [...featureShape] }),
        maxPooling2d({ poolSize: 2 }),
        conv2d({ filters: 2 * filters, kernelSize: 3, activation: 'relu' }),
        maxPooling2d({ poolSize: 2 }),
        flatten(),
        dense({ units: targetSize }),
      ],
    });
  },
});
