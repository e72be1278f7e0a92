import { createDataset, createSplits, defineProject, gaussianBlobs, tf, z } from 'tutti-ensembles';

/** Points of the plane: many with four classes, or few with the two classes that matter here. */
function points(stage: 'many' | 'few', samples: number, seed: number) {
  const drawn = gaussianBlobs({ samples, classes: 4, seed });
  if (stage === 'many') return drawn;
  return createDataset({ ...drawn, targets: drawn.targets.map((label) => label % 2), classCount: 2 });
}

/** The layers that both stages use, with names by which their weights are found. */
const base = (inputShape: number[]) => [
  tf.layers.dense({ name: 'base_1', units: 16, activation: 'relu', inputShape }),
  tf.layers.batchNormalization({ name: 'base_2' }),
];

export default defineProject({
  name: 'Transfer',
  description: 'A base that learned from many samples helps to learn from few.',
  task: 'classification',
  hyperparameters: z.object({
    stage: z.enum(['many', 'few']).default('many').meta({ help: 'Which samples to train on.' }),
  }),
  defaults: { members: 2, batchSize: 16, maxEpochs: 4, optimizer: { kind: 'adam', learningRate: 0.01 } },

  data({ hyperparameters: { stage }, seed }) {
    return createSplits({
      train: points(stage, stage === 'many' ? 400 : 24, seed),
      validation: points(stage, 200, seed + 1),
    });
  },

  model: ({ featureShape, targetSize }) =>
    tf.sequential({ layers: [...base([...featureShape]), tf.layers.dense({ name: 'head', units: targetSize })] }),
});
