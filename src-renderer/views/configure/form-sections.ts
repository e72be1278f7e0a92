import type { OptionDescription } from '../../../core/options/index.ts';

export interface FormSection {
  id: string;
  title: string;
  help: string;
  options: OptionDescription[];
  /** Closed at first: rarely changed. */
  isAdvanced: boolean;
}

interface SectionPlan {
  id: string;
  title: string;
  help: string;
  /** Options at the top level, or whole objects. */
  paths: string[];
  isAdvanced?: boolean;
}

const plans: SectionPlan[] = [
  {
    id: 'members',
    title: 'Members & devices',
    help: 'How many members are trained, on what, and from which seed.',
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
    ],
  },
  { id: 'strategy', title: 'Strategy', help: 'How the members relate while they train.', paths: ['strategy'] },
  {
    id: 'training',
    title: 'Training',
    help: 'Batches, epochs, and how often the ranks meet.',
    paths: [
      'maxEpochs',
      'maxSteps',
      'batchSize',
      'sampler',
      'data',
      'dropLast',
      'evaluateEveryEpochs',
      'logEverySteps',
      'onNonFinite',
      'loss',
    ],
  },
  { id: 'optimizer', title: 'Optimizer', help: 'Optimizer and learning rate.', paths: ['optimizer', 'schedule'] },
  { id: 'stopping', title: 'Stopping', help: 'When to stop before the last epoch.', paths: ['earlyStopping'] },
  {
    id: 'checkpoints',
    title: 'Checkpoints',
    help: 'What is kept on disk, and gone on from.',
    paths: ['checkpoints', 'keepPredictions', 'restarts'],
  },
  { id: 'hyperparameters', title: 'Hyperparameters', help: 'The project’s own.', paths: ['hyperparameters'] },
  { id: 'timeouts', title: 'Timeouts', help: 'How long to wait for what.', paths: ['timeouts'], isAdvanced: true },
];

/** The form's sections in their order, each with its options in the order of the plan; what no plan names comes last. */
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
