import type { RunConfig, RunConfigInput } from '../../../core/protocol/run/config.ts';
import type { dataForms } from './settings.ts';

type Form = (typeof dataForms)[number] | null;

/** A refusal that only a run's processes can give, because it depends on the data. */
export interface DataRule {
  applies: (form: Form, config: RunConfig) => boolean;
  /** A part of its message. */
  message: string;
  /** A run that it refuses. */
  example: { form: Form; config: RunConfigInput };
}

const holdsOut = ({ data }: RunConfig): boolean => data.holdOut > 0 || data.foldPerRank;

/** Settings that do not suit a form of the data. */
export const dataRules: readonly DataRule[] = [
  {
    applies: (form, { strategy }) => strategy.kind === 'joint' && (form === 'weights' || form === 'mask'),
    message: 'which the loss of the strategy joint cannot use',
    example: { form: 'mask', config: { strategy: { kind: 'joint' } } },
  },
  {
    applies: (form, { strategy }) => strategy.kind === 'joint' && form === 'steps',
    message: 'the strategy joint trains a product of experts of one prediction per sample',
    example: { form: 'steps', config: { strategy: { kind: 'joint' } } },
  },
  {
    applies: (form, { strategy }) => ['joint', 'coupled'].includes(strategy.kind) && form === 'outputs',
    message: 'further outputs do not work with the strategy',
    example: { form: 'outputs', config: { strategy: { kind: 'coupled' } } },
  },
  {
    applies: (form, config) => holdsOut(config) && form === 'outputs',
    message: 'further outputs do not work with samples that ranks hold out',
    example: { form: 'outputs', config: { data: { holdOut: 0.5 } } },
  },
  {
    applies: (form, { augmentation: { mixup: _mixup, magnitude: _magnitude, ...ofImages } }) =>
      form !== 'pixels' && Object.values(ofImages).some(Boolean),
    message: 'Augmentation is for images',
    example: { form: null, config: { augmentation: { horizontalFlip: true } } },
  },
  {
    applies: (form, { augmentation: { mixup, cutmix } }) => form === 'steps' && (mixup > 0 || cutmix > 0),
    message: 'and the mean of two ids is another one',
    example: { form: 'steps', config: { augmentation: { mixup: 1 } } },
  },
  {
    applies: (form, { strategy }) => strategy.kind === 'pipeline' && form === 'steps',
    message: 'nowhere after a layer that makes masks',
    example: { form: 'steps', config: { strategy: { kind: 'pipeline' } } },
  },
];
