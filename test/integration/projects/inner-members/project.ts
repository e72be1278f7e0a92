import {
  batchEnsemble,
  defineProject,
  gaussianBlobs,
  Generator,
  mimo,
  splitDataset,
  type SymbolicTensor,
  tf,
  z,
} from 'tutti-ensembles';

/** Overlapping blobs for a network with inner members. */
export default defineProject({
  name: 'Inner members',
  description: 'Three overlapping classes in the plane, and several members in one network.',
  task: 'classification',
  hyperparameters: z.object({
    kind: z.enum(['repeat', 'split', 'mimo']).default('repeat'),
    inner: z.int().min(1).default(3),
  }),
  defaults: { batchSize: 30, logEverySteps: 1, optimizer: { kind: 'adam', learningRate: 0.01 } },

  data() {
    const whole = gaussianBlobs({ samples: 150, spread: 2.5, seed: 7 });
    return splitDataset(whole, { validation: 0.2, test: 0.2 }, new Generator(7, 'split'));
  },

  model({ hyperparameters: { kind, inner: members }, featureShape, targetSize: units }) {
    const inputShape = [...featureShape];
    if (kind !== 'mimo') {
      const { inputs, dense, outputs } = batchEnsemble({ members, training: kind });
      const hidden = dense({ units: 8, activation: 'relu' });
      return tf.sequential({
        layers: [inputs({ inputShape }), hidden, dense({ units }), outputs({ task: 'classification' })],
      });
    }
    const { inputs, heads, outputs } = mimo({ members, batchRepetitions: 2, inputRepetition: 0.5 });
    const x = tf.input({ shape: inputShape });
    const [rows, positions] = inputs().apply(x) as SymbolicTensor[];
    const features = tf.layers.dense({ units: 8, activation: 'relu' }).apply(rows) as SymbolicTensor;
    const logits = heads({ units }).apply([features, positions]);
    return tf.model({ inputs: x, outputs: outputs({ task: 'classification' }).apply(logits) as SymbolicTensor });
  },
});
