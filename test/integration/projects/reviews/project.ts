import { defineProject, fitTokenizer, Generator, type TextColumn, textDataset, tf, z } from 'tutti-ensembles';

const classNames = ['negative', 'positive'];
const words = {
  subject: ['the film', 'this book', 'the meal', 'our guide', 'the hotel'],
  positive: ['wonderful', 'great', 'charming'],
  negative: ['awful', 'boring', 'rude'],
  link: ['was', 'is', 'seemed'],
};
const length = 8;

/** Short reviews, drawn from a grammar: "not" turns their meaning round, so that the order of words counts. */
export default defineProject({
  name: 'Reviews',
  description: 'Texts of different lengths, classified by an embedding and a recurrent layer.',
  task: 'classification',
  hyperparameters: z.object({ samples: z.int().min(20).default(400) }),
  defaults: { members: 2, maxEpochs: 12, batchSize: 32, optimizer: { kind: 'adam', learningRate: 0.02 } },

  data({ seed, hyperparameters: { samples } }) {
    const random = new Generator(seed, 'reviews');
    const drawn = Array.from({ length: samples }, () => drawReview(random));
    const [training, validation] = [drawn.slice(0, samples * 0.75), drawn.slice(samples * 0.75)];
    const tokenizer = fitTokenizer(training.map(({ text }) => text));
    const toDataset = (name: string, reviews: typeof drawn) => {
      const targets = Int32Array.from(reviews, ({ label }) => label);
      return textDataset({ name, texts: reviews.map(({ text }) => text), targets, classNames, tokenizer, length });
    };
    return { train: toDataset('training', training), validation: toDataset('validation', validation) };
  },

  // Texts become ids as in training: the tokenizer is fitted on the same texts again.
  async inputs({ table, seed, hyperparameters: { samples } }) {
    const random = new Generator(seed, 'reviews');
    const drawn = Array.from({ length: samples }, () => drawReview(random));
    const tokenizer = fitTokenizer(drawn.slice(0, samples * 0.75).map(({ text }) => text));
    const texts = (table.columns[0] as TextColumn).values.map((text) => text ?? '');
    const { features } = textDataset({
      name: 'new texts',
      texts,
      targets: new Int32Array(texts.length),
      tokenizer,
      length,
    });
    return { prepared: features as Float32Array };
  },

  model({ targetSize }) {
    return tf.sequential({
      layers: [
        tf.layers.embedding({ inputDim: 40, outputDim: 8, inputLength: length, maskZero: true }),
        tf.layers.gru({ units: 8, recurrentActivation: 'sigmoid' }),
        tf.layers.dense({ units: targetSize }),
      ],
    });
  },
});

function drawReview(random: Generator): { text: string; label: number } {
  const pick = (list: readonly string[]): string => list[random.integer(list.length)];
  const isPraise = random.uniform() < 0.5;
  const isNegated = random.uniform() < 0.5;
  const ending = random.uniform() < 0.5 ? ' indeed!' : '.';
  const judgement = pick(isPraise ? words.positive : words.negative);
  const text = `${pick(words.subject)} ${pick(words.link)}${isNegated ? ' not' : ''} ${judgement}${ending}`;
  return { text, label: Number(isPraise !== isNegated) };
}
