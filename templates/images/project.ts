import { defineProject, imageFolder, tf, z } from 'tutti-ensembles';

export default defineProject({
  name: 'My images',
  description:
    'A small convolutional classifier of the images in the folder images, which has a folder for each class.',
  task: 'classification',
  hyperparameters: z.object({ filters: z.int().min(1).default(8).meta({ help: 'Filters of the first layer.' }) }),
  defaults: {
    members: 2,
    maxEpochs: 40,
    batchSize: 16,
    optimizer: { kind: 'adam', learningRate: 0.01 },
    augmentation: { cropPadding: 1, horizontalFlip: true, verticalFlip: true },
  },

  data: ({ seed, fold }) =>
    imageFolder(`${import.meta.dirname}/images`, {
      size: [16, 16],
      channels: 1,
      seed,
      validation: 0.2,
      test: 0.2,
      fold,
    }),

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
