import type { OptionDescription } from '../../../core/options/index.ts';
import { labelOfOption } from '../../components/basic/format.ts';
import type { Device } from '../../../core/protocol/machine/devices.ts';
import { isGpu } from './device-plan.ts';

export interface FormSection {
  id: string;
  title: string;
  help: string;
  options: OptionDescription[];
  /** Closed at first. */
  isAdvanced: boolean;
}

interface SectionPlan {
  id: string;
  title: string;
  help: string;
  /** Top-level options or whole objects. */
  paths: string[];
}

/** What most runs set. Each of these paths leaves the section of its subject. */
const essentials: SectionPlan = {
  id: 'essentials',
  title: 'Essentials',
  help: 'What most runs set.',
  paths: [
    'members',
    'devices',
    'strategy.kind',
    'maxEpochs',
    'batchSize',
    'optimizer.kind',
    'optimizer.learningRate',
    'earlyStopping.enabled',
    'earlyStopping.patience',
    'seed',
  ],
};

const hyperparameters: SectionPlan = {
  id: 'hyperparameters',
  title: 'Hyperparameters',
  help: 'Defined by the project.',
  paths: ['hyperparameters'],
};

/** The other options by subject. */
const advanced: SectionPlan[] = [
  {
    id: 'members',
    title: 'Members & devices',
    help: 'How many members train, on which devices, and from which seed.',
    paths: [
      'members',
      'devices',
      'placement',
      'membersPerDevice',
      'threads',
      'backend',
      'blas',
      'determinism',
      'collectives',
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
      'activationCheckpointing',
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
  {
    id: 'timeouts',
    title: 'Timeouts',
    help: 'How long Tutti waits before it gives up.',
    paths: ['timeouts'],
  },
];

/**
 * The form's sections with their options: the project's hyperparameters, what most runs set, then the rest by subject.
 * Options that no section names come last.
 */
export function formSections(options: readonly OptionDescription[]): FormSection[] {
  const rest = new Set(options.filter(({ path }) => path !== 'hyperparameters'));
  const take = (plan: SectionPlan, isAdvanced: boolean): FormSection => {
    const { paths, ...about } = plan;
    const taken = paths.flatMap((path) => [...rest].filter((option) => isWithin(option.path, path)));
    for (const option of taken) rest.delete(option);
    return { ...about, isAdvanced, options: taken };
  };
  const sections = [take(hyperparameters, false), take(essentials, false), ...advanced.map((plan) => take(plan, true))];
  const other = { id: 'other', title: 'More', help: '', isAdvanced: true, options: [...rest] };
  return [...sections, other].filter((section) => section.options.length > 0);
}

function isWithin(path: string, root: string): boolean {
  return path === root || path.startsWith(`${root}.`);
}

/** Only the options that contain all words of a search in their name, path or help; all of them without a search. */
export function sectionsMatching(sections: readonly FormSection[], search: string): FormSection[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [...sections];
  const matches = ({ path, help }: OptionDescription): boolean => {
    const text = `${labelOfOption(path)} ${path} ${help}`.toLowerCase();
    return words.every((word) => text.includes(word));
  };
  return sections
    .map((section) => ({ ...section, options: section.options.filter(matches) }))
    .filter(({ options }) => options.length > 0);
}

/** The state that decides which options and choices are available. */
export interface FormContext {
  /** The value of an option by its path. */
  value: (path: string) => unknown;
  devices: readonly Device[];
  /** How many devices the plan uses; 0 before there is a plan. */
  plannedDevices: number;
}

/** Why an option has no effect with the current values; null where it has. */
export function whyIdle({ path }: OptionDescription, { value, plannedDevices }: FormContext): string | null {
  if (
    path.startsWith('earlyStopping.') &&
    path !== 'earlyStopping.enabled' &&
    value('earlyStopping.enabled') === false
  ) {
    return 'Early stopping is off.';
  }
  if (path === 'placement' && plannedDevices > 0 && workerCount(value) <= plannedDevices) {
    return 'Every worker has its own device, so nothing is shared.';
  }
  if (path === 'identicalSeeds' && Number(value('members')) === 1) return 'There is only one member.';
  return null;
}

/** Why a choice is not available with the current values; null where it is. */
export function whyUnavailable(path: string, choice: string, { value, plannedDevices }: FormContext): string | null {
  const isJoint = value('earlyStopping.enabled') === true && value('earlyStopping.joint') === true;
  if (path === 'placement' && choice === 'waves' && isJoint && workerCount(value) > plannedDevices) {
    return 'Joint early stopping needs all members to train at the same time. Turn it off first.';
  }
  return null;
}

/** How many workers the members need. A worker may train several. */
function workerCount(value: FormContext['value']): number {
  const perWorker = value('membersPerDevice');
  return Math.ceil(Number(value('members')) / (typeof perWorker === 'number' ? perWorker : 1));
}

/** Why a device selection matches no device; null where it matches some. */
export function whyNoDevices(selection: string, devices: readonly Device[]): string | null {
  if (selection === 'gpu' && !devices.some(isGpu)) return 'No GPU was found. The Health page shows what is missing.';
  return null;
}
