import type { OptionDescription } from '../../../core/options/index.ts';

export interface FormSection {
  id: string;
  title: string;
  help: string;
  options: OptionDescription[];
  /** Rarely changed, so closed at first. */
  isAdvanced: boolean;
}

interface SectionPlan {
  id: string;
  title: string;
  help: string;
  /** Top-level options or whole objects. */
  paths: string[];
  isAdvanced?: boolean;
}

const plans: SectionPlan[] = [
  {
    id: 'members',
    title: 'Members & devices',
    help: 'How many members train, on which devices, and from which seed.',
    paths: [
      'members',
      'devices',
      'placement',
      'membersPerDevice',
      'backend',
      'blas',
      'determinism',
      'seed',
      'identicalSeeds',
      'initializers',
      'memoryLimitBytes',
    ],
  },
  { id: 'strategy', title: 'Strategy', help: 'How the members interact during training.', paths: ['strategy'] },
  {
    id: 'training',
    title: 'Training',
    help: 'Batches, epochs, and how often the ensemble is evaluated.',
    paths: [
      'maxEpochs',
      'maxSteps',
      'scheduleEpochs',
      'batchSize',
      'sampler',
      'data',
      'dropLast',
      'evaluateEveryEpochs',
      'metrics',
      'logEverySteps',
      'onNonFinite',
      'loss',
    ],
  },
  {
    id: 'augmentation',
    title: 'Augmentation',
    help: 'Random changes of the training images.',
    paths: ['augmentation'],
    isAdvanced: true,
  },
  {
    id: 'optimizer',
    title: 'Optimizer',
    help: 'Optimizer, learning rate, averaged weights and first weights.',
    paths: ['optimizer', 'schedule', 'ema', 'warmStart'],
  },
  { id: 'stopping', title: 'Stopping', help: 'When to stop before the last epoch.', paths: ['earlyStopping'] },
  {
    id: 'checkpoints',
    title: 'Checkpoints',
    help: 'What is saved to disk, and what happens when a member is lost.',
    paths: ['checkpoints', 'keepPredictions', 'onMemberLoss'],
  },
  { id: 'hyperparameters', title: 'Hyperparameters', help: 'Defined by the project.', paths: ['hyperparameters'] },
  {
    id: 'timeouts',
    title: 'Timeouts',
    help: 'How long Tutti waits before it gives up.',
    paths: ['timeouts'],
    isAdvanced: true,
  },
];

/** The form's sections with their options, in order. Options that no section names come last. */
export function formSections(options: readonly OptionDescription[]): FormSection[] {
  const shown = options.filter(({ path }) => path !== 'hyperparameters');
  const groups = Map.groupBy(shown, ({ path }) => path.split('.')[0]);
  const planned = new Set(plans.flatMap(({ paths }) => paths));
  const others = [...groups.keys()].filter((root) => !planned.has(root));
  const all = [...plans, { id: 'other', title: 'More', help: '', paths: others }];
  return all
    .map(({ paths, isAdvanced = false, ...plan }) => ({
      ...plan,
      isAdvanced,
      options: paths.flatMap((root) => groups.get(root) ?? []),
    }))
    .filter((section) => section.options.length > 0);
}
