import {
  batchEnsemble,
  defineProject,
  flattened,
  Generator,
  type LayersModel,
  mimo,
  mnist,
  splitDataset,
  type SymbolicTensor,
  tf,
  z,
} from 'tutti-ensembles';

type Layer = LayersModel['layers'][number];

/** 2,000 images of MNIST's test files to train on, 3,000 to choose members by, 5,000 to judge them. */
export default defineProject({
  name: 'Few digits',
  description: 'A small network with dropout and batch normalization, whose weights are kept after each epoch.',
  task: 'classification',
  // To download the images.
  permissions: { network: true },
  hyperparameters: z.object({
    network: z.enum(['plain', 'batch-ensemble', 'mimo']).default('plain'),
    inner: z.int().min(1).default(4).meta({ help: 'Inner members of the network, where it is not plain.' }),
    batchRepetitions: z.int().min(1).default(1).meta({ help: 'Of MIMO.' }),
    inputRepetition: z.number().min(0).max(1).default(0).meta({ help: 'Of MIMO.' }),
  }),
  defaults: {
    members: 5,
    batchSize: 50,
    maxEpochs: 60,
    optimizer: { kind: 'sgd', learningRate: 0.05, momentum: 0.9 },
    checkpoints: { everyEpochs: 1 },
  },

  async data({ folders, seed }) {
    const { train } = await mnist({ ...folders, files: 't10k' });
    return splitDataset(flattened(train), { validation: 3000, test: 5000 }, new Generator(seed, 'split'));
  },

  model({ hyperparameters: { network, inner: members, ...batches }, featureShape, targetSize: units }) {
    const inputShape = [...featureShape];
    const task = 'classification';
    const { dense } = tf.layers;
    if (network === 'plain') {
      return tf.sequential({
        layers: [dense({ units: 128, activation: 'relu', inputShape }), ...hidden(dense), dense({ units })],
      });
    }
    if (network === 'batch-ensemble') {
      const inner = batchEnsemble({ members });
      const first = [inner.inputs({ inputShape }), inner.dense({ units: 128, activation: 'relu' })];
      return tf.sequential({
        layers: [...first, ...hidden(inner.dense), inner.dense({ units }), inner.outputs({ task })],
      });
    }
    const { inputs, heads, outputs } = mimo({ members, ...batches });
    const x = tf.input({ shape: inputShape });
    const [rows, positions] = inputs().apply(x) as SymbolicTensor[];
    const layers = [dense({ units: 128, activation: 'relu' }), ...hidden(dense)];
    const features = layers.reduce((value, layer) => layer.apply(value) as SymbolicTensor, rows);
    const logits = heads({ units }).apply([features, positions]);
    return tf.model({ inputs: x, outputs: outputs({ task }).apply(logits) as SymbolicTensor });
  },
});

/** The layers between the first and the last. */
function hidden(dense: (options: Parameters<typeof tf.layers.dense>[0]) => Layer): Layer[] {
  return [
    tf.layers.batchNormalization(),
    tf.layers.dropout({ rate: 0.3 }),
    dense({ units: 128, activation: 'relu' }),
    tf.layers.dropout({ rate: 0.3 }),
  ];
}
