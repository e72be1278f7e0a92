import { describeOptions, type OptionDescription, type PlainObject, setPath } from '../../../core/options/index.ts';
import { taskKinds } from '../../../core/metrics/registry/metric.ts';
import { runConfigSchema } from '../../../core/protocol/run/config.ts';

/**
 * A value of an option other than its default, with the kinds that have the option; or a task, or a form of the data.
 */
export interface Setting {
  /** Of the option; `(task)`, `(data)`. */
  path: string;
  value: unknown;
  /** Kinds of unions, by path: `strategy.kind`. */
  kinds: Readonly<Record<string, string>>;
}

/** The forms of data that a run may have beside the usual one. */
export const dataForms = ['weights', 'mask', 'steps', 'context', 'outputs', 'pixels'] as const;

/**
 * Values of options for which a half of the default, or twice the least, would not do: texts, structures, and sizes
 * that would make a run long or impossible. A new option of a text or a structure needs a line; of all others it is
 * tried without.
 */
const named: Readonly<Record<string, readonly unknown[]>> = {
  members: [1, 3],
  devices: ['cpu:0'],
  batchSize: [3],
  maxEpochs: [1],
  maxSteps: [2],
  memoryLimitBytes: [2 ** 36],
  'data.folds': [2],
  'data.fold': [1],
  'metrics.more': ['auroc'],
  'earlyStopping.monitor': ['val/ens_nll'],
  'checkpoints.monitor': ['val/ens_acc'],
  'schedule.monitor': ['val/member_{rank}_nll'],
  'checkpoints.quotaMiB': [1],
  'checkpoints.stateEverySeconds': [0],
  'optimizer.groups': [[{ weights: 'last', rateFactor: 0.5 }]],
  'strategy.bucketBytes': [64],
  'strategy.cuts': [['last']],
  'strategy.diverge': [['learningRate', 'dropout']],
  'strategy.decay': [0],
  'strategy.groups': [[{ name: 'head', weights: 'last' }]],
  'strategy.stage': [2, 3],
  'strategy.unlabelledBatchSize': [5],
};

/** Options whose values need something that this test has not, and the tests that have it. */
export const elsewhere: Readonly<Record<string, string>> = {
  hyperparameters: 'the data forms of this test come as hyperparameters',
  'warmStart.checkpoint': 'it needs the checkpoint of another run: test/unit/training/warm-start.test.ts',
  collectives: 'it needs a launcher of MPI: test/integration/mpi',
};

/** Values that a machine may lack, and the tests that run where it has them. */
export const machineValues: Readonly<Record<string, readonly unknown[]>> = {
  // test/integration/backends.
  backend: ['tensorflow', 'webgpu'],
  // test/unit/backends/blas.
  blas: ['on'],
};

function otherNumber({
  type,
  default: usual,
  minimum = -Infinity,
  maximum = Infinity,
  exclusiveMaximum = Infinity,
}: OptionDescription): number {
  const whole = type === 'integer';
  const half = typeof usual === 'number' ? usual / 2 : 0;
  if (half === 0)
    return Math.min(whole ? 2 : 1, maximum, exclusiveMaximum === Infinity ? Infinity : exclusiveMaximum / 4);
  const own = whole ? Math.ceil(half) : half;
  return own !== usual && own >= minimum ? own : Number(usual) * 2;
}

/** The values of an option that are tried, without its default. */
function valuesOf(option: OptionDescription): readonly unknown[] {
  const { path, type, choices = [], default: usual } = option;
  if (Object.hasOwn(elsewhere, path)) return [];
  if (Object.hasOwn(named, path)) return named[path];
  const lacking = Object.hasOwn(machineValues, path) ? machineValues[path] : [];
  switch (type) {
    case 'choice':
      return choices.map(({ value }) => value).filter((value) => value !== usual && !lacking.includes(value));
    case 'boolean':
      return [usual !== true];
    case 'number':
    case 'integer':
      return [otherNumber(option)];
    case 'auto-or-count':
      return [usual === 'auto' ? 2 : 'auto'];
    default:
      throw new Error(
        `${path} is a ${type} without values to try: give it some in test/integration/drawn/settings.ts.`,
      );
  }
}

/**
 * All values that are tried: of each option, for each kind of strategy, optimizer, schedule and loss of members that
 * has it.
 */
export function allSettings(): Setting[] {
  const options = describeOptions(runConfigSchema);
  const ofOptions = options.flatMap((option): Setting[] => {
    const { path, when } = option;
    const kinds = when === undefined ? [{}] : when.equals.map((kind) => ({ [when.path]: kind }));
    return kinds.flatMap((own) =>
      valuesOf(option).map((value) => ({
        path,
        value,
        kinds: path.endsWith('.kind') ? { [path]: String(value) } : own,
      })),
    );
  });
  const tasks = taskKinds.filter((task) => task !== 'classification');
  return [
    ...tasks.map((value): Setting => ({ path: '(task)', value, kinds: {} })),
    ...dataForms.map((value): Setting => ({ path: '(data)', value, kinds: {} })),
    ...ofOptions,
  ];
}

/** A run's wishes: at most one of each option, of kinds that go together. */
export type Wishes = readonly Setting[];

/** The kinds that the wishes need. */
export function kindsOf(wishes: Wishes): Record<string, string> {
  return Object.assign({}, ...wishes.map(({ kinds }) => kinds)) as Record<string, string>;
}

/** Whether wishes could be those of one run. What excludes each other otherwise must be refused. */
export function areTogether(wishes: Wishes): boolean {
  const values = new Map<string, unknown>();
  for (const { path, value, kinds } of wishes) {
    for (const [key, own] of [[path, value] as const, ...Object.entries(kinds)]) {
      if (values.has(key) && values.get(key) !== own) return false;
      values.set(key, own);
    }
  }
  return true;
}

const valueAt = (wishes: Wishes, path: string): unknown => wishes.find((wish) => wish.path === path)?.value;

/** What the wishes say of the project. */
export function projectOf(wishes: Wishes) {
  const task = (valueAt(wishes, '(task)') ?? 'classification') as (typeof taskKinds)[number];
  const form = (valueAt(wishes, '(data)') ?? null) as (typeof dataForms)[number] | null;
  return { task, form };
}

/** The configuration of the wishes, over a project's defaults. */
export function configOf(wishes: Wishes): PlainObject {
  const options = wishes.filter(({ path }) => !path.startsWith('('));
  const kinds = Object.entries(kindsOf(wishes));
  return [...kinds, ...options.map(({ path, value }) => [path, value] as const)].reduce<PlainObject>(
    (config, [path, value]) => setPath(config, path, value),
    {},
  );
}

/** A text for messages: `strategy.stage 2 (sharded)`. */
export function nameOf({ path, value, kinds }: Setting): string {
  const own = Object.values(kinds).filter((kind) => kind !== value);
  return `${path} ${JSON.stringify(value)}${own.length === 0 ? '' : ` (${own.join()})`}`;
}
