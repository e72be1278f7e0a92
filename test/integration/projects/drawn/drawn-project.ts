import { join } from 'node:path';
import {
  createDataset,
  createSplits,
  type Dataset,
  defineProject,
  type Fold,
  Generator,
  imageFolder,
  type ImageOptions,
  type Project,
  readTable,
  type ReadTableOptions,
  splitDataset,
  type Splits,
  standardize,
  type SymbolicTensor,
  tableSplits,
  type TableSplitOptions,
  tf,
  z,
} from 'tutti-ensembles';

/** What a test draws of a project's data. A project's own code must name its task, all else comes as a hyperparameter. */
export interface DrawnData {
  /** `steps`: a target at each step of a sequence of ids; `tokens`: one for the sequence. */
  kind: 'values' | 'tokens' | 'steps' | 'pixels' | 'table' | 'images';
  samples: number;
  /** Of the tasks with classes. */
  classNames: string[];
  /** Values, counts or labels of a sample. */
  columns: number;
  /** Of targets that are values. */
  offset: number;
  unit: number;
  hasWeights: boolean;
  hasMask: boolean;
  /** Whether the model has a second input. */
  hasContext: boolean;
  /** Whether the second input comes before that of the features. */
  isContextFirst: boolean;
  standardize: boolean;
  standardizeTargets: boolean;
  validation: number;
  test: number;
  /** Of a table or images: the path, from the project's folder. */
  file: string;
  reading: ReadTableOptions;
  table: Partial<TableSplitOptions>;
  images: Partial<ImageOptions>;
}

export const usualData: DrawnData = {
  kind: 'values',
  samples: 24,
  classNames: ['no', 'yes'],
  columns: 1,
  offset: 0,
  unit: 1,
  hasWeights: false,
  hasMask: false,
  hasContext: false,
  isContextFirst: false,
  standardize: false,
  standardizeTargets: false,
  validation: 8,
  test: 4,
  file: '',
  reading: {},
  table: {},
  images: {},
};

const [features, steps, words] = [3, 4, 6];
type Task = Project['task'];
const tasksWithClasses: readonly Task[] = ['classification', 'binary', 'ordinal'];

/** Data in memory, of which every value follows from the seed. */
function drawDataset(task: Task, data: DrawnData, seed: number): Dataset {
  const { kind, samples, classNames, hasMask, hasWeights, hasContext } = data;
  const random = new Generator(seed, 'drawn');
  const isSequence = kind === 'tokens' || kind === 'steps';
  const isImage = kind === 'pixels';
  const featureShape = isImage ? [6, 6, 3] : [isSequence ? steps : features];
  const width = featureShape.reduce((product, size) => product * size);
  const values = Float32Array.from({ length: samples * width }, () =>
    isSequence ? random.integer(words) : isImage ? random.uniform() : 2 * random.uniform() - 1,
  );
  // The first step of a sequence is no padding.
  if (isSequence) for (let i = 0; i < samples; i++) values[i * width] = 1 + random.integer(words - 1);
  const positions = kind === 'steps' ? steps : 1;
  const targets = drawTargets(task, data, samples * positions, random);
  const perPosition = targets.length / (samples * positions);
  const isList = !tasksWithClasses.includes(task) && task !== 'quantile-regression';
  const mask = Uint8Array.from(targets, (_, i) => Number(i % 3 > 0 || random.integer(2) > 0));
  return createDataset({
    name: 'drawn',
    featureShape,
    features: isImage ? Uint8Array.from(values, (value) => 255 * value) : values,
    targets,
    ...(kind === 'steps' && { targetShape: isList ? [steps, perPosition] : [steps] }),
    ...(tasksWithClasses.includes(task) || task === 'multi-label' ? { classNames } : {}),
    ...(hasWeights && { weights: Float32Array.from({ length: samples }, (_, i) => (i % 4) / 2) }),
    ...(hasMask && { mask }),
    ...(hasContext && {
      extraInputs: {
        context: { shape: [2], values: Float32Array.from({ length: 2 * samples }, () => random.normal()) },
      },
    }),
    extraTargets: {
      level: { shape: [1], values: Float32Array.from({ length: samples }, () => random.normal()) },
      kind: { shape: [], values: Uint8Array.from({ length: samples }, () => random.integer(3)) },
    },
  });
}

function drawTargets(task: Task, { classNames, columns, offset, unit }: DrawnData, count: number, random: Generator) {
  if (tasksWithClasses.includes(task)) return Int32Array.from({ length: count }, (_, i) => i % classNames.length);
  if (task === 'multi-label') return Float32Array.from({ length: count * classNames.length }, () => random.integer(2));
  const width = task === 'quantile-regression' ? 1 : columns;
  return Float32Array.from({ length: count * width }, () =>
    task === 'poisson-regression' ? random.integer(5) : offset + unit * random.normal(),
  );
}

interface Wish {
  seed: number;
  fold?: Fold | undefined;
  config: Parameters<Project['data']>[0]['config'];
}

async function drawSplits(task: Task, data: DrawnData, folder: string, { seed, fold, config }: Wish): Promise<Splits> {
  const { kind, test, file, standardizeTargets } = data;
  const holdsOut = config.data.holdOut > 0 || config.data.foldPerRank;
  const sizes = { seed, validation: holdsOut ? 0 : data.validation, test, fold };
  if (kind === 'images')
    return await imageFolder(join(folder, file), { size: [6, 6], channels: 3, ...data.images, ...sizes });
  if (kind === 'table') {
    const table = await readTable(join(folder, file), data.reading);
    return tableSplits(table, { ...data.table, ...sizes, standardizeTargets });
  }
  const splits = splitDataset(drawDataset(task, data, seed), sizes, new Generator(seed, 'split'));
  return data.standardize ? standardize(splits, { targets: standardizeTargets }).splits : splits;
}

/** The outputs of a task's model: one layer for each. */
function headsOf(task: Task, units: number): { units: number; activation: 'linear' | 'softplus' }[] {
  const linear = { units, activation: 'linear' as const };
  return task === 'heteroscedastic-regression' ? [linear, { units, activation: 'softplus' }] : [linear];
}

/** What a test draws. */
const hyperparameters = z.object({ drawn: z.string().default('{}'), dropout: z.number().min(0).lt(1).default(0.1) });

/** A project with data and a model of the drawn kind. */
export function drawnProject(task: Task, hasOutputs: boolean, folder: string) {
  const dataOf = ({ drawn }: { drawn: string }): DrawnData => ({
    ...usualData,
    ...(JSON.parse(drawn) as Partial<DrawnData>),
  });
  return defineProject({
    name: 'Drawn',
    description: 'Data and a model that a test draws.',
    task,
    ...(hasOutputs && {
      outputs: {
        level: { task: 'regression' as const, weight: 0.5 },
        kind: { task: 'classification' as const, classNames: ['a', 'b', 'c'] },
      },
    }),
    hyperparameters,
    defaults: { batchSize: 4, maxEpochs: 2, maxSteps: 3 },
    async data({ hyperparameters: own, seed, fold, config }) {
      const splits = await drawSplits(task, dataOf(own), folder, { seed, fold, config });
      return config.strategy.kind === 'coupled' ? createSplits({ ...splits, unlabelled: splits.train }) : splits;
    },
    model({ hyperparameters: own, featureShape, extraInputShapes, targetSize }) {
      const { kind, isContextFirst } = dataOf(own);
      const { dense, embedding, globalAveragePooling1d, gru, flatten, conv2d, dropout, concatenate } = tf.layers;
      const input = tf.input({ shape: [...featureShape] });
      const start = (): SymbolicTensor[] => {
        if (kind === 'images' || kind === 'pixels')
          return [flatten().apply(conv2d({ filters: 2, kernelSize: 3 }).apply(input))].flat() as SymbolicTensor[];
        if (kind === 'values' || kind === 'table') return [input];
        const vectors = embedding({ inputDim: words, outputDim: 3, maskZero: kind === 'steps' }).apply(input);
        if (kind === 'tokens') return [globalAveragePooling1d({}).apply(vectors)].flat() as SymbolicTensor[];
        return [
          gru({ units: 3, recurrentActivation: 'sigmoid', returnSequences: true }).apply(vectors),
        ].flat() as SymbolicTensor[];
      };
      const contexts = Object.entries(extraInputShapes).map(([name, shape]) => tf.input({ shape: [...shape], name }));
      const read = [...start(), ...contexts];
      const joined = read.length === 1 ? read[0] : concatenate().apply(read);
      const hidden = dense({ units: 4, activation: 'tanh', name: 'hidden' }).apply(joined);
      const last = dense({ units: 3, activation: 'tanh', name: 'last' }).apply(
        own.dropout > 0 ? dropout({ rate: own.dropout }).apply(hidden) : hidden,
      );
      const further = hasOutputs ? [dense({ units: 1, name: 'level' }), dense({ units: 3, name: 'kind' })] : [];
      const outputs = [...headsOf(task, targetSize).map((head) => dense(head)), ...further];
      return tf.model({
        inputs: isContextFirst ? [...contexts, input] : [input, ...contexts],
        outputs: outputs.map((layer) => layer.apply(last) as SymbolicTensor),
      });
    },
  });
}
