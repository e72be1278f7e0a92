import { defineProject, readTable, tableSplits, tf, z } from 'tutti-ensembles';

/** Words of a text that the model reads; longer texts lose their end. */
const length = 12;

export default defineProject({
  name: 'My texts',
  description: 'Tells positive from negative sentences in reviews.tsv by the mean of their word vectors.',
  task: 'classification',
  hyperparameters: z.object({
    vocabulary: z.int().min(3).default(200).meta({ help: 'Words that the model knows.' }),
    width: z.int().min(1).default(16).meta({ help: "Length of a word's vector." }),
  }),
  defaults: { members: 4, maxEpochs: 20, batchSize: 16, optimizer: { kind: 'adam', learningRate: 0.02 } },

  async data({ hyperparameters: { vocabulary }, seed, fold }) {
    const table = await readTable(`${import.meta.dirname}/reviews.tsv`, { columns: { text: 'text' } });
    const text = { text: { size: vocabulary, length } };
    return tableSplits(table, { seed, target: 'label', text, validation: 0.2, test: 0.2, stratify: true, fold });
  },

  model({ hyperparameters: { vocabulary, width }, targetSize }) {
    const { dense, embedding, globalAveragePooling1d } = tf.layers;
    return tf.sequential({
      layers: [
        embedding({ inputDim: vocabulary, outputDim: width, inputLength: length }),
        globalAveragePooling1d({}),
        dense({ units: width, activation: 'relu' }),
        dense({ units: targetSize }),
      ],
    });
  },
});
