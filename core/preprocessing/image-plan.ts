import { quoted } from './column-findings.ts';
import type { ImageProfile, ImageSplit } from './image-profile.ts';
import type { Finding } from './profile.ts';

/** A project that learns from a folder of images, with all that was decided and why. */
export interface ImagePlan {
  profile: ImageProfile;
  /** Height and width that all images get. */
  side: number;
  channels: 1 | 3;
  /** Sizes of the splits that no folder holds. */
  drawn: { validation: number; test: number };
  isMirrored: boolean;
  /** What was decided, one sentence each with the reason. */
  decisions: readonly string[];
  /** Findings that the decisions leave open. */
  open: readonly Finding[];
}

/** Larger images take minutes an epoch on a CPU; smaller ones than this leave the network nothing to halve twice. */
const [smallestSide, largestSide] = [8, 64];
const heldOut = 0.2;

/**
 * A project for what is in a folder of images.
 * @throws Error where no image can be read, or there is one class only
 */
export function planImages(profile: ImageProfile): ImagePlan {
  const { sizes, classes, splits, channels: counted } = profile;
  if (sizes === null) throw new Error(`${profile.folder} has no image that can be read.`);
  if (classes.length < 2) {
    throw new Error(`${profile.folder} has one class only, ${classes[0]?.name}. Make a folder for each class.`);
  }
  const middle = Math.min(...sizes.median);
  const side = Math.min(largestSide, Math.max(smallestSide, Math.floor(middle / 8) * 8));
  const channels = Object.keys(counted).every((own) => own === '1' || own === '2') ? 1 : 3;
  const has = (split: string): boolean => splits.some((own) => own.split === split);
  const drawn = { validation: has('validation') ? 0 : heldOut, test: has('test') ? 0 : heldOut };
  // Mirrored digits and letters are other ones, or none.
  const isMirrored = !classes.every(({ name }) => /^.$/u.test(name));
  const names = (['validation', 'test'] as const).filter((split) => drawn[split] > 0);
  const decisions = [
    `Predicts the class, one of ${classes.length}: the names of the folders.`,
    `Images become ${side} × ${side} pixels, the median being ${sizes.median.join(' × ')}.`,
    channels === 1 ? 'One channel: all images are grey.' : 'Three channels: images have colours.',
    ...(names.length === 0
      ? ['Folders hold all splits.']
      : [
          `A fifth of the training images${names.length > 1 ? ' each' : ''} for ${names.join(' and ')}, with the classes in the same proportions.`,
        ]),
    isMirrored
      ? 'Training images are shifted and mirrored at random.'
      : 'Training images are shifted at random, and not mirrored, because the classes are single letters or digits.',
  ];
  const open = profile.findings.filter(({ level }) => level !== 'note');
  return { profile, side, channels, drawn, isMirrored, decisions, open };
}

/** The images of each split, those that are drawn from the training images included. */
export function plannedCounts({ profile, drawn }: ImagePlan): Record<ImageSplit, number> {
  const inFolder = (split: ImageSplit): number => profile.splits.find((own) => own.split === split)?.images ?? 0;
  const train = inFolder('train');
  const validation = Math.round(drawn.validation * train);
  const test = Math.round(drawn.test * train);
  return {
    train: train - validation - test,
    validation: validation + inFolder('validation'),
    test: test + inFolder('test'),
  };
}

/** The model of the project's code, for people. */
export function imageModelSentence(plan: ImagePlan): string {
  return (
    'Five residual networks of three stages with 16, 32 and 64 filters, which give logits of the classes; AdamW, ' +
    `batches of ${batchSizeFor(plan)}, until the NLL of the ensemble no longer falls.`
  );
}

const batchSizeFor = ({ profile }: ImagePlan): number => (profile.splits[0].images < 500 ? 16 : 32);

/** The project's code. @param folder name of the images' folder beside it @param title the project's name */
export function imageProjectSource(plan: ImagePlan, folder: string, title: string): string {
  const { profile, side, isMirrored } = plan;
  const augmentation = [`cropPadding: ${side / 8}`, ...(isMirrored ? ['horizontalFlip: true'] : [])].join(', ');
  return `import { join } from 'node:path';
import { defineProject, imageFolder, standardize, type SymbolicTensor, tf, z } from 'tutti-ensembles';

export default defineProject({
  name: ${quoted(title)},
  description: ${quoted(`The class of an image, one of ${profile.classes.length}.`)},
  task: 'classification',
  hyperparameters: z.object({
    filters: z.int().min(1).default(16).meta({ help: 'Filters of the first stage; each further one has twice as many.' }),
  }),
  defaults: {
    members: 5,
    maxEpochs: 100,
    batchSize: ${batchSizeFor(plan)},
    optimizer: { kind: 'adamw', learningRate: 0.002 },
    earlyStopping: { enabled: true, monitor: 'val/ens_nll', patience: 15 },
    augmentation: { ${augmentation} },
  },

  async data({ seed${plan.drawn.test > 0 ? ', fold' : ''} }) {
    const splits = await imageFolder(join(import.meta.dirname, ${quoted(folder)}), {
${optionLines(plan)
  .map((line) => `      ${line},`)
  .join('\n')}
    });
    return standardize(splits).splits;
  },

${network}`;
}

/** All that was found out about the folder, as options of `imageFolder`. */
function optionLines({ profile, side, channels, drawn }: ImagePlan): string[] {
  const { splits, largestValue, maximum } = profile;
  const folders = splits.map(({ split, folder }) => `${split}: ${quoted(folder)}`);
  const isSplit = splits.length > 1 || splits[0].folder !== '.';
  return [
    `size: [${side}, ${side}]`,
    `channels: ${channels}`,
    "fit: 'cover'",
    ...(largestValue === null ? [] : [`maximum: ${maximum ?? 65_535}`]),
    isSplit ? `splitFolders: { ${folders.join(', ')} }` : 'splitFolders: false',
    'seed',
    ...(drawn.validation > 0 ? [`validation: ${drawn.validation}`] : []),
    ...(drawn.test > 0 ? [`test: ${drawn.test}`, 'fold'] : []),
  ];
}

const network = `  // A residual network of three stages: each block adds what two convolutions find to its input (He et al., 2016).
  model({ hyperparameters: { filters }, featureShape, targetSize }) {
    const input = tf.input({ shape: [...featureShape] });
    let x = normalized(input, filters, 1);
    for (const [stage, strides] of [1, 2, 2].entries()) x = block(x, filters * 2 ** stage, strides);
    const pooled = tf.layers.globalAveragePooling2d({}).apply(x);
    return tf.model({ inputs: input, outputs: tf.layers.dense({ units: targetSize }).apply(pooled) as SymbolicTensor });
  },
});

function block(input: SymbolicTensor, filters: number, strides: number): SymbolicTensor {
  const inner = tf.layers.reLU().apply(normalized(input, filters, strides)) as SymbolicTensor;
  const shortcut = strides === 1 ? input : normalized(input, filters, strides, 1);
  const sum = tf.layers.add().apply([normalized(inner, filters, 1), shortcut]);
  return tf.layers.reLU().apply(sum) as SymbolicTensor;
}

function normalized(input: SymbolicTensor, filters: number, strides: number, kernelSize = 3): SymbolicTensor {
  const convolution = tf.layers.conv2d({ filters, kernelSize, strides, padding: 'same', useBias: false });
  return tf.layers.batchNormalization({ momentum: 0.9 }).apply(convolution.apply(input)) as SymbolicTensor;
}
`;
