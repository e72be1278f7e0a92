import { createDataset, defineProject, Generator, splitDataset, type SymbolicTensor, tf, z } from 'tutti-ensembles';

const classNames = ['a', 'b', 'c', 'd'];
/** Words have 2 to 4 letters. Ids: 0 is padding, 1 to 4 are letters, 5 is the start. */
const [steps, start] = [4, 5];

export default defineProject({
  name: 'Reversed words',
  description: 'An encoder reads a word, a decoder writes it backwards.',
  task: 'classification',
  hyperparameters: z.object({ units: z.int().min(1).default(24) }),
  defaults: { members: 2, maxEpochs: 8, batchSize: 32, optimizer: { kind: 'adam', learningRate: 0.02 } },

  data({ seed }) {
    const random = new Generator(seed, 'words');
    const samples = 800;
    const features = new Float32Array(samples * steps);
    const previous = new Float32Array(samples * steps).fill(start);
    const targets = new Int32Array(samples * steps);
    const mask = new Uint8Array(samples * steps);
    for (let first = 0; first < features.length; first += steps) {
      const length = 2 + random.integer(steps - 1);
      for (let step = 0; step < length; step++) {
        const letter = random.integer(classNames.length);
        features[first + step] = letter + 1;
        targets[first + length - 1 - step] = letter;
        mask[first + step] = 1;
      }
      // What the decoder wrote before each step, if it was right: teacher forcing.
      for (let step = 1; step < length; step++) previous[first + step] = targets[first + step - 1] + 1;
    }
    const words = createDataset({
      name: 'words',
      featureShape: [steps],
      features,
      targets,
      targetShape: [steps],
      mask,
      classNames,
      extraInputs: { previous: { shape: [steps], values: previous } },
    });
    return splitDataset(words, { validation: 0.25 }, new Generator(seed, 'split'));
  },

  model({ hyperparameters: { units }, targetSize }) {
    const { embedding, gru, repeatVector, concatenate, dense } = tf.layers;
    const recurrentActivation = 'sigmoid';
    const word = tf.input({ shape: [steps] });
    const previous = tf.input({ shape: [steps], name: 'previous' });
    const letters = embedding({ inputDim: 6, outputDim: 8, maskZero: true }).apply(word) as SymbolicTensor;
    const read = gru({ units, recurrentActivation }).apply(letters) as SymbolicTensor;
    const written = embedding({ inputDim: 6, outputDim: 8 }).apply(previous) as SymbolicTensor;
    const atEachStep = repeatVector({ n: steps }).apply(read) as SymbolicTensor;
    const known = concatenate().apply([written, atEachStep]) as SymbolicTensor;
    const state = gru({ units, recurrentActivation, returnSequences: true }).apply(known);
    const logits = dense({ units: targetSize }).apply(state as SymbolicTensor) as SymbolicTensor;
    return tf.model({ inputs: [word, previous], outputs: logits });
  },

  metrics: {
    words: {
      direction: 'max',
      help: 'Share of words with all letters right.',
      compute({ prediction: { values, width }, targets, dataset: { length, mask } }) {
        const [probabilities] = values;
        const isRight = (position: number): boolean => {
          const own = [...probabilities.subarray(position * width, (position + 1) * width)];
          return mask?.[position] === 0 || own.indexOf(Math.max(...own)) === targets[position];
        };
        let right = 0;
        for (let word = 0; word < length; word++) {
          const positions = Array.from({ length: steps }, (_, step) => word * steps + step);
          if (positions.every(isRight)) right += 1;
        }
        return right / length;
      },
    },
  },
});
