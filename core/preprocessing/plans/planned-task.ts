import type { ColumnProfile } from '../profile.ts';
import { holdsClasses } from '../profile-findings.ts';

/** Tasks that a project from a table may have. */
export const plannedTasks = ['classification', 'heteroscedastic-regression', 'multi-label', 'forecast'] as const;
export type PlannedTask = (typeof plannedTasks)[number];

/**
 * The lines of a model that give its outputs.
 * @param hidden what they are computed from @param inputs those of the model
 */
export function outputLines(
  task: PlannedTask,
  { hidden, inputs, units = 'targetSize' }: { hidden: string; inputs: string; units?: string },
): string {
  if (tasks[task].targetKind !== 'values') {
    return `    const logits = tf.layers.dense({ units: ${units} }).apply(${hidden}) as SymbolicTensor;
    return tf.model({ inputs: ${inputs}, outputs: logits });
`;
  }
  return `    const mean = tf.layers.dense({ units: ${units}, name: 'mean' }).apply(${hidden}) as SymbolicTensor;
    const positive = tf.layers.dense({ units: ${units}, activation: 'softplus', name: 'variance' }).apply(${hidden});
    // No member is ever certain: targets have the variance 1 where it is trained.
    const variance = tf.layers.rescaling({ scale: 1, offset: 0.001 }).apply(positive) as SymbolicTensor;
    return tf.model({ inputs: ${inputs}, outputs: [mean, variance] });
`;
}

/** What a project of a task is made of. */
interface TaskParts {
  /** What it answers, and what its networks give, for people. */
  answer: string;
  output: string;
  /** The option of `tableSplits`. */
  targetKind: string;
}

const ofValues: TaskParts = {
  answer: 'The mean and the variance',
  output: 'a mean and a variance',
  targetKind: 'values',
};
export const tasks: Readonly<Record<PlannedTask, TaskParts>> = {
  classification: {
    answer: 'The class',
    output: 'logits of the classes',
    targetKind: 'classes',
  },
  'heteroscedastic-regression': ofValues,
  forecast: ofValues,
  'multi-label': {
    answer: 'The probabilities',
    output: 'a logit for each label',
    targetKind: 'labels',
  },
};

/**
 * The task of a project.
 * @param wanted by the user; undefined: as the targets suggest
 * @param decisions gets the reasons
 * @throws Error where the targets do not suit the task
 */
export function taskOf(
  targets: readonly ColumnProfile[],
  wanted: PlannedTask | undefined,
  decisions: string[],
): PlannedTask {
  const [target] = targets;
  return targets.length === 1 ? taskOfOne(target, wanted, decisions) : taskOfSeveral(targets, wanted, decisions);
}

function taskOfOne(target: ColumnProfile, wanted: PlannedTask | undefined, decisions: string[]): PlannedTask {
  const { type, distinctValues, name } = target;
  const isNumber = type === 'number' || type === 'date';
  if (wanted === 'multi-label')
    throw new Error(`Several labels need several targets, and there is one, ${JSON.stringify(name)}.`);
  if (wanted === 'heteroscedastic-regression' && !isNumber) {
    throw new Error(`${JSON.stringify(name)} holds no numbers, so that it cannot be the target of a regression.`);
  }
  if (wanted !== undefined) return wanted;
  if (!holdsClasses(target)) {
    decisions.push(`Regression, because the target has ${distinctValues} different numbers.`);
    return 'heteroscedastic-regression';
  }
  const kind = isNumber ? 'whole numbers, which are taken for classes' : 'values';
  decisions.push(`Classification, because the target has ${distinctValues} different ${kind}.`);
  return 'classification';
}

/** Each of several targets is a label, which a sample has or not, or each is a number. */
function taskOfSeveral(
  targets: readonly ColumnProfile[],
  wanted: PlannedTask | undefined,
  decisions: string[],
): PlannedTask {
  if (wanted === 'forecast') throw new Error('A forecast has one target. Choose one of them, or another task.');
  const isLabel = ({ type, bars }: ColumnProfile): boolean =>
    type === 'boolean' || (type === 'number' && bars.every(({ label }) => label === '0' || label === '1'));
  const areLabels = targets.every(isLabel);
  const other = targets.find((target) => (wanted === 'multi-label' ? !isLabel(target) : target.type !== 'number'));
  if (wanted === 'classification' || (other !== undefined && !areLabels)) {
    const rule = 'Several targets must all hold numbers, or all hold 0 and 1 or true and false';
    const found = other === undefined ? '' : `: ${JSON.stringify(other.name)} does not`;
    throw new Error(`${rule}${found}. Choose one target, or other ones.`);
  }
  const task = wanted ?? (areLabels ? 'multi-label' : 'heteroscedastic-regression');
  const counts = targets.map(({ name, present }) => `${JSON.stringify(name)} ${present}`).join(', ');
  decisions.push(
    task === 'multi-label'
      ? 'Several labels, because all targets hold 0 and 1, or true and false.'
      : 'Regression of several values, because all targets are numbers.',
  );
  if (targets.some(({ missing }) => Object.keys(missing).length > 0))
    decisions.push(`Each row counts for the targets that it has. Rows with a value: ${counts}.`);
  return task;
}
