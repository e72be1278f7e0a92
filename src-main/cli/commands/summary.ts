import { printableLine } from '../../../core/text/printable.ts';
import { describeGain } from '../../../core/protocol/run/ensemble-gain.ts';
import { countEpoch, formatMetric, metricLabel } from '../../../core/text/numbers.ts';
import { hasOwnEntry } from '../../../core/node/own-folders.ts';
import { holdsState } from '../../store/runs/saved-rounds.ts';
import {
  ensemblesOf,
  type EvaluatedSet,
  ownSummary,
  type RunRecord,
  type RunSummary,
} from '../../../core/protocol/run/record.ts';
import { describeLostMembers, lostRanksOf } from '../../../core/protocol/run/lost-members.ts';
import { countMembers, plannedConfig } from '../../../core/protocol/run/strategies/ranks-and-members.ts';
import { describeNotFinite, notFiniteOf } from '../../../core/protocol/run/health.ts';
import { describePlan } from '../../devices/plan.ts';
import { runPaths } from '../../store/runs/run-folder.ts';
import { formatDuration } from '../progress.ts';
import { formatCount } from '../../../core/text/numbers.ts';
import { type Look, plainLook } from '../look.ts';
import { renderTable } from '../table.ts';

/** Metrics of the comparison, if the task has them. */
export const comparedMetrics = [
  { name: 'mse', title: 'MSE' },
  { name: 'nll', title: 'NLL' },
  { name: 'acc', title: 'accuracy' },
  { name: 'ece', title: 'ECE' },
];

const stopReasons = { completed: '', 'early-stopping': ' (early stopping)', requested: ' (as requested)' };

/** Describes a run at its start: project, members and strategy, the devices of its ranks, and the folder. */
export function introduce(record: RunRecord, folder: string): string[] {
  const { name, project, task, attempts } = record;
  const config = plannedConfig(record);
  const title = printableLine(project.name);
  const about = `${title} (${printableLine(task)}) · ${countMembers(config)} · ${config.strategy.kind}`;
  return [
    name === project.name ? about : `${printableLine(name)}: ${about}`,
    ...describePlan(record.plan).map((line) => `  ${line}`),
    ...(record.workers === undefined ? [] : [`  ${record.workers.why}`]),
    attempts.length === 1 ? `into ${folder}` : `attempt ${attempts.length}, in ${folder}`,
  ];
}

/** Describes how a run ended: status, best evaluation, a comparison of its checkpoint sets, and the folders. */
export function summarize(record: RunRecord, folder: string, look: Look = plainLook): string[] {
  const { summary } = record;
  const best = summary?.best ?? null;
  return [
    ending(record),
    ...warnLost(record),
    ...warnNotFinite(record),
    ...(best === null
      ? []
      : [
          `best ${metricLabel(best.metric)} ${formatMetric(best.value)} at epoch ${countEpoch(best.epoch)}, ` +
            `step ${best.step}`,
        ]),
    ...ofEarlier(record),
    ...compareSets(summary?.evaluatedSets ?? [], look),
    ...gainOf(summary?.evaluatedSets ?? []),
    '',
    `folder: ${folder}`,
    ...(hasOwnEntry(folder, 'plots', /./) ? [`plots:  ${runPaths(folder).plots}`] : []),
    ...nextStep(record, folder),
  ];
}

/** What the ensemble that answers by default gains over its members, after a blank line. */
function gainOf(sets: readonly EvaluatedSet[]): string[] {
  const answering = sets.find(({ set }) => set === 'ensemble-best') ?? sets.at(0);
  const sentences = answering === undefined ? [] : describeGain(answering);
  return sentences.length === 0 ? [] : ['', ...sentences];
}

/** A table with the average member and each ensemble of every set; empty without sets. */
export function compareSets(sets: readonly EvaluatedSet[], look: Look = plainLook): string[] {
  if (sets.length === 0) return [];
  const metrics = comparedMetrics.filter(({ name }) => sets.some(({ ensemble }) => name in ensemble));
  const columns = [
    { title: `on ${sets[0].split}` },
    { title: 'epochs', least: 6 },
    { title: '' },
    // A narrow terminal shows the first metrics.
    ...metrics.map(({ title }, index) => ({ title, right: true, ...(index === 0 ? {} : { dispensable: index }) })),
  ];
  const rows = sets.flatMap(({ set, epochs, members, ensemble }) => [
    [set, listEpochs(epochs), 'average member', ...metrics.map(({ name }) => showMetric(average(members[name])))],
    ...ensemblesOf(ensemble).map(({ label, prefix }) => [
      '',
      '',
      label,
      ...metrics.map(({ name }) => showMetric(ensemble[`${prefix}${name}`])),
    ]),
  ]);
  return ['', ...renderTable(columns, rows, look)];
}

/** A note that members are missing, and how to complete them. */
function warnLost(record: RunRecord): string[] {
  const lost = describeLostMembers(record);
  if (lost === null) return [];
  const [rank] = lostRanksOf(record);
  return [`warning: ${lost}.`, `To complete the missing member: tutti resume ${record.id} --rank ${rank}`];
}

/** A warning about NaN and infinities, which are easy to miss in a table of a finished run. */
function warnNotFinite(record: RunRecord): string[] {
  const found = notFiniteOf(record);
  if (found === null) return [];
  const listed = found.metrics.length <= 6 ? found.metrics.join(', ') : `${found.metrics.length} metrics`;
  return [`warning: ${describeNotFinite(record)}${found.ranks.length === 0 ? '' : ` (${listed})`}`];
}

/** A note if the summary comes from an earlier attempt because the last one has none. */
function ofEarlier(record: RunRecord): string[] {
  const { summary } = record;
  if (summary === null || ownSummary(record) !== null) return [];
  return [`The values are from the end of attempt ${summary.attempt}, after ${countWork(summary)}.`];
}

function countWork({ epochs, steps }: RunSummary): string {
  return `${epochs} ${epochs === 1 ? 'epoch' : 'epochs'}, ${formatCount(steps)} steps`;
}

function ending(record: RunRecord): string {
  const { status, attempts } = record;
  const summary = ownSummary(record);
  const attempt = attempts.at(-1);
  const lastedMs = attempt?.endedAt ? Date.parse(attempt.endedAt) - Date.parse(attempt.startedAt) : 0;
  if (summary === null) return `${status} after ${formatDuration(lastedMs)}`;
  return `${status} after ${countWork(summary)}, ${formatDuration(lastedMs)}${stopReasons[summary.stopReason]}`;
}

/** A run that has saved no state would begin anew, so it gets no advice to resume it. */
function nextStep({ id, status }: RunRecord, folder: string): string[] {
  if (status === 'finished' || !holdsState(folder)) return [];
  return [`To resume it: tutti resume ${id}`];
}

/** `12` if all are equal, else `9, 12`, or `9 to 14` for many. */
function listEpochs(epochs: readonly number[]): string {
  const counted = epochs.map(countEpoch);
  const distinct = new Set(counted);
  if (distinct.size === 1) return String(counted[0]);
  return counted.length <= 4 ? counted.join(', ') : `${Math.min(...counted)} to ${Math.max(...counted)}`;
}

function average(values: readonly number[] | undefined): number | undefined {
  return values && values.reduce((sum, value) => sum + value, 0) / values.length;
}

function showMetric(value: number | undefined): string {
  return value === undefined ? '-' : formatMetric(value);
}
