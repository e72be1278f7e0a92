import { defineProject, imageFolder, tf, z } from 'tutti-ensembles';

export default defineProject({
  name: 'Shapes',
  description: 'Drawn shapes in a folder for each class.',
  task: 'classification',
  hyperparameters: z.object({
    onDisk: z.boolean().default(false).meta({ help: 'Whether images are decoded on demand.' }),
  }),
  defaults: {
    batchSize: 16,
    maxEpochs: 3,
    optimizer: { kind: 'adam', learningRate: 0.01 },
    augmentation: { cropPadding: 2, horizontalFlip: true, verticalFlip: true, contrast: 0.2, mixup: 0.1 },
  },

  data({ seed, hyperparameters: { onDisk } }) {
    return imageFolder(`${import.meta.dirname}/images`, { size: [16, 16], seed, validation: 0.25, onDisk });
  },

  model({ featureShape, targetSize }) {
    const { conv2d, dense, flatten, maxPooling2d } = tf.layers;
    return tf.sequential({
      layers: [
        conv2d({ filters: 8, kernelSize: 3, activation: 'relu', inputShape: [...featureShape] }),
        maxPooling2d({ poolSize: 2 }),
        flatten(),
        dense({ units: targetSize }),
      ],
    });
  },
});
