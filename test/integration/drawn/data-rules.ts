import type { RunConfig, RunConfigInput, StrategyConfig } from '../../../core/protocol/run/config.ts';
import {
  strategyKinds,
  type StrategyRules,
  strategyRules,
} from '../../../core/protocol/run/strategies/strategy-rules.ts';
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

/** A form of the data that no strategy of a rule can train with, for each such strategy. */
function ofStrategies(
  isOne: (rules: StrategyRules) => boolean,
  form: Form,
  messageOf: (kind: StrategyConfig['kind']) => string,
): DataRule[] {
  return strategyKinds
    .filter((kind) => isOne(strategyRules[kind]))
    .map((kind) => ({
      applies: (other, { strategy }) => strategy.kind === kind && other === form,
      message: messageOf(kind),
      example: { form, config: { strategy: { kind } } },
    }));
}

const ofLoss = (kind: StrategyConfig['kind']): string => `which the loss of the strategy ${kind} cannot use`;

/** Settings that do not suit a form of the data. */
export const dataRules: readonly DataRule[] = [
  ...ofStrategies(({ isProduct }) => isProduct, 'weights', ofLoss),
  ...ofStrategies(({ isProduct }) => isProduct, 'mask', ofLoss),
  ...ofStrategies(
    ({ isProduct }) => isProduct,
    'steps',
    (kind) => `the strategy ${kind} trains a product of experts of one prediction per sample`,
  ),
  ...ofStrategies(
    ({ exchangesOutputs }) => exchangesOutputs,
    'outputs',
    (kind) => `further outputs do not work with the strategy ${kind}`,
  ),
  ...ofStrategies(
    ({ splits }) => splits === 'layers',
    'steps',
    () => 'nowhere after a layer that makes masks',
  ),
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
];
