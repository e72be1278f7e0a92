import type { StudyImportance, StudySummary, StudyTrial } from '../../../../core/protocol/pages/study-views.ts';
import { describeSpentSpace } from '../../../../core/protocol/pages/study-summary.ts';
import type { Objective, Study } from '../../../../core/protocol/studies/study.ts';
import type { Assignment } from '../../../../core/studies/space/space.ts';
import { formatMetric } from '../../../../core/text/numbers.ts';
import { printableLine } from '../../../../core/text/printable.ts';
import { trialCommandLine } from '../../../rpc/projects/command-line.ts';

/** `trial 3  complete  ensemble NLL 0.41 ± 0.02  weightDecay=0.15`. */
export function describeTrial({ objectives }: Pick<Study, 'objectives'>, trial: StudyTrial): string {
  const { number, state, values, error } = trial;
  const result = error ?? describeValues(objectives, trial.objectives, trial.standardErrors);
  return [`trial ${number}`, state, printableLine(result), describeAssignment(values)]
    .filter((part) => part !== '')
    .join('  ');
}

/** The best configuration of a study, with the command that trains it. */
export function describeBest(summary: StudySummary, study: Pick<Study, 'project' | 'overrides'>): string[] {
  const { best, objectives, trials } = summary;
  const counts = [
    `${trials.complete} complete`,
    ...(trials.pruned > 0 ? [`${trials.pruned} pruned`] : []),
    ...(trials.paused > 0 ? [`${trials.paused} paused`] : []),
    ...(trials.failed > 0 ? [`${trials.failed} failed`] : []),
  ];
  const spent = describeSpentSpace(summary);
  const ended = `${counts.join(', ')} of ${trials.wanted} trials.${spent === null ? '' : ` ${spent}`}`;
  if (best === null) return [`No trial is complete yet: ${ended}`];
  return [
    ended,
    `Best: trial ${best.number}, ${describeValues(objectives, best.objectives, best.standardErrors)}`,
    `  ${describeAssignment(best.values)}`,
    `To train it: ${trialCommandLine(study, best.values)}`,
  ];
}

/** Which parameters matter, with intervals, and why that may say little. */
export function describeImportance(importance: readonly StudyImportance[]): string[] {
  return importance.flatMap(({ objective, parameters, note }) => {
    if (parameters.length === 0) return [];
    const width = Math.max(...parameters.map(({ path }) => path.length));
    return [
      `Importance for ${nameOf(objective)}, as a share with its 95 % interval:`,
      ...parameters.map(
        ({ path, share, low, high }) =>
          `  ${path.padEnd(width)}  ${share.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)})`,
      ),
      ...(note === null ? [] : [`  note: ${note}`]),
    ];
  });
}

function nameOf({ metric, kind }: Objective): string {
  return `${metric} of the ${kind === 'ensemble' ? 'ensemble' : 'mean member'}`;
}

/** `nll of the ensemble 0.41 ± 0.02`, for each objective; without an error where there is one part. */
export function describeValues(
  objectives: readonly Objective[],
  values: readonly number[] | null,
  errors: readonly number[] | null,
): string {
  if (values === null) return '';
  return objectives
    .map((objective, index) => {
      const error = errors?.[index] ?? NaN;
      const spread = Number.isNaN(error) ? '' : ` ± ${formatMetric(error)}`;
      return `${nameOf(objective)} ${formatMetric(values[index])}${spread}`;
    })
    .join(', ');
}

export function describeAssignment(values: Assignment): string {
  return Object.entries(values)
    .map(([path, value]) => `${path}=${typeof value === 'number' ? formatValue(value) : printableLine(String(value))}`)
    .join(' ');
}

function formatValue(value: number): string {
  return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(6)));
}
