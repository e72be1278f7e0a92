import { z } from 'zod';

/** How samples reach the ranks, and which of them each rank trains on. */
export const dataSchema = z.strictObject({
  mode: z
    .enum(['local', 'broadcast', 'shared'])
    .default('local')
    .meta({
      help:
        'Source of the training samples: a separate copy for each rank, batches that the first rank broadcasts, or ' +
        'one copy in memory for all ranks of the machine.',
    }),
  bagging: z.boolean().default(false).meta({
    help: 'Each rank trains on a bootstrap sample: as many samples as the training split has, drawn with replacement.',
  }),
  holdOut: z
    .number()
    .min(0)
    .lt(1)
    .default(0)
    .meta({
      help:
        'Share of the training split that each rank holds out to validate on. Every held-out sample is held out by ' +
        'two ranks, whose mean is the ensemble for it (Fredsgaard and Schmidt, 2025). 0: the validation split of ' +
        'the project.',
    }),
  folds: z
    .int()
    .min(0)
    .max(1000)
    .default(0)
    .meta({ help: 'Number of folds of a cross-validation (k); 0: none.', unit: 'folds' }),
  fold: z.int().min(0).default(0).meta({
    help: 'The fold, from 0, that the project makes its test split: one run for each. Not with `data.foldPerRank`.',
  }),
  foldPerRank: z
    .boolean()
    .default(false)
    .meta({
      help:
        'Rank r holds out fold r mod k of the training split to validate on, so that one run is a whole ' +
        'cross-validation.',
    }),
});
type DataConfig = z.output<typeof dataSchema>;

/** Whether ranks validate on samples of the training split, each on its own. */
export function holdsOut({ holdOut, foldPerRank }: DataConfig): boolean {
  return holdOut > 0 || foldPerRank;
}

const range = (what: string) =>
  z
    .number()
    .min(0)
    .max(1)
    .default(0)
    .meta({ help: `Changes the ${what} of each image by a factor in [1 − range, 1 + range]; 0: not.` });

const alpha = (help: string) => z.number().min(0).max(4).default(0).meta({ help });

/** How training images are changed at random. Every rank draws its own changes, in each epoch anew. */
export const augmentationSchema = z.strictObject({
  cropPadding: z.int().min(0).default(0).meta({
    help: 'Padding of images before a random crop to their size; 0: no crop.',
    unit: 'px',
  }),
  horizontalFlip: z.boolean().default(false).meta({ help: 'Mirror images left to right at random.' }),
  verticalFlip: z.boolean().default(false).meta({ help: 'Mirror images top to bottom at random.' }),
  rotation: z.number().min(0).max(180).default(0).meta({
    help: 'Turns each image by an angle of at most this size, in both directions; 0: not.',
    unit: '°',
  }),
  brightness: range('brightness'),
  contrast: range('contrast'),
  saturation: range('saturation'),
  cutout: z.int().min(0).default(0).meta({
    help: 'Side of a square that is blanked at a random place of each image (DeVries and Taylor, 2017); 0: none.',
    unit: 'px',
  }),
  mixup: alpha(
    'Mixes samples, and their losses, with shares from Beta(α, α) (Zhang et al., 2018); 0: not. Samples need ' +
      'not be images.',
  ),
  cutmix: alpha(
    'Pastes a rectangle of another image, whose area is drawn from Beta(α, α), and mixes the losses (Yun et al., ' +
      '2019); 0: not. With mixup, half of the batches have either.',
  ),
  randAugment: z.int().min(0).max(20).default(0).meta({
    help: 'Random operations on each image (Cubuk et al., 2020); 0: none.',
    unit: 'operations',
  }),
  magnitude: z.number().min(0).max(30).default(9).meta({
    help: 'Strength of the operations of randAugment, from 0 to 30.',
  }),
});
