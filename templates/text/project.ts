import { join } from 'node:path';
import { defineProject, Generator, splitDataset, tf, z } from 'tutti-ensembles';
import { encode, readTexts, vocabularyOf } from './words.ts';

export default defineProject({
  name: 'My texts',
  description: 'Tells positive from negative sentences in reviews.tsv by the mean of their word vectors.',
  task: 'classification',
  hyperparameters: z.object({
    vocabulary: z.int().min(3).default(200).meta({ help: 'Words that the model knows.' }),
    width: z.int().min(1).default(16).meta({ help: "Length of a word's vector." }),
  }),
  defaults: { members: 4, maxEpochs: 20, batchSize: 16, optimizer: { kind: 'adam', learningRate: 0.02 } },

  data({ hyperparameters, seed }) {
    const { texts, labels } = readTexts(join(import.meta.dirname, 'reviews.tsv'));
    const set = encode(texts, labels, vocabularyOf(texts, hyperparameters.vocabulary));
    return splitDataset(set, { validation: 0.2, test: 0.2 }, new Generator(seed, 'split'));
  },

  model({ hyperparameters: { vocabulary, width }, featureShape, targetSize }) {
    const { dense, embedding, globalAveragePooling1d } = tf.layers;
    return tf.sequential({
      layers: [
        embedding({ inputDim: vocabulary, outputDim: width, inputLength: featureShape[0] }),
        globalAveragePooling1d({}),
        dense({ units: width, activation: 'relu' }),
        dense({ units: targetSize }),
      ],
    });
  },
});
