import { extname, join } from 'node:path';
import { defineProject, moleculeDataset, readTable, tf, z } from 'tutti-ensembles';
import { findScreen, moleculesOf, screens } from './screens.ts';

/** A screen for molecules that act, as a pool that `tutti discover` searches. */
export default defineProject({
  name: 'Hit finding in a screen',
  description: 'Which of 41,127 molecules protect cells from HIV? Each round tests 20 of them, chosen by the ensemble.',
  task: 'binary',

  hyperparameters: z.object({
    units: z.int().min(1).default(64).meta({ help: 'Units of the hidden layer.', unit: 'units' }),
    dropout: z.number().min(0).lt(1).default(0.2).meta({ help: 'Share of the hidden units that a step leaves out.' }),
    screen: z
      .enum(['hiv', 'cav3'])
      .default('hiv')
      .meta({
        help:
          'Molecules that act against HIV, or on Cav3 T-type calcium channels: molecules/hiv.csv or ' +
          'molecules/cav3.tsv in TUTTI_DATA, which download.ts gets.',
      }),
    file: z.string().default('').meta({
      help: 'Another table, with SMILES in the first column and the label 0 or 1 in the last.',
    }),
  }),
  defaults: {
    members: 8,
    maxEpochs: 30,
    batchSize: 128,
    optimizer: { kind: 'adam', learningRate: 0.002 },
  },

  async data({ hyperparameters, folders }) {
    const screen = screens[hyperparameters.screen];
    const table = await readTable(hyperparameters.file || (findScreen(screen, folders) ?? sampleOf(screen.name)));
    const { dataset, pool } = await moleculeDataset({
      name: table.name,
      ...moleculesOf(table, hyperparameters.file === '' ? screen.smiles : ''),
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

/** The sample beside this file is one of the HIV screen. @throws Error for other screens */
function sampleOf(screen: string): string {
  if (screen === screens.hiv.name) return join(import.meta.dirname, 'sample.csv');
  const download = join(import.meta.dirname, `download${extname(import.meta.filename)}`);
  throw new Error(
    `The screen ${screen} is not there. Download it, node ${download} cav3 <folder>, and name that folder in TUTTI_DATA.`,
  );
}
