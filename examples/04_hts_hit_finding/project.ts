import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { defineProject, moleculeDataset, readTable, tf, z } from 'tutti-ensembles';

/** A screen for molecules that act against HIV, as a pool that `tutti discover` searches. */
export default defineProject({
  name: 'Hit finding in a screen',
  description: 'Which of 41,127 molecules protect cells from HIV? Each round tests 20 of them, chosen by the ensemble.',
  task: 'binary',

  hyperparameters: z.object({
    units: z.int().min(1).default(64).meta({ help: 'Units of the hidden layer.', unit: 'units' }),
    dropout: z.number().min(0).lt(1).default(0.2).meta({ help: 'Share of the hidden units that a step leaves out.' }),
    file: z.string().default('').meta({
      help: 'Table with SMILES in the first column and the label 0 or 1 in the last; by default molecules/hiv.csv in TUTTI_DATA, else the sample beside this file.',
    }),
  }),
  defaults: {
    members: 8,
    maxEpochs: 30,
    batchSize: 32,
    optimizer: { kind: 'adam', learningRate: 0.002 },
  },

  async data({ hyperparameters, folders }) {
    const places = [folders.lookup, folders.cache].flatMap((folder) =>
      folder === null ? [] : [join(folder, 'molecules', 'hiv.csv')],
    );
    const file =
      hyperparameters.file || (places.find((path) => existsSync(path)) ?? join(import.meta.dirname, 'sample.csv'));
    const table = await readTable(file);
    const smiles = table.columns[0];
    const label = table.columns[table.columns.length - 1];
    const { dataset, pool } = await moleculeDataset({
      name: table.name,
      smiles: Array.from({ length: table.length }, (_, row) => String(smiles.values[row])),
      targets: Int32Array.from({ length: table.length }, (_, row) => Number(label.values[row])),
      classNames: ['inactive', 'active'],
      folders,
    });
    return { train: dataset, pool };
  },

  model({ hyperparameters: { units, dropout }, featureShape, targetSize }) {
    return tf.sequential({
      layers: [
        tf.layers.dense({ units, activation: 'relu', inputShape: [...featureShape] }),
        tf.layers.dropout({ rate: dropout }),
        tf.layers.dense({ units: targetSize }),
      ],
    });
  },
});
