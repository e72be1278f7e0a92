import { flagOf } from '../../../core/options/describe.ts';
import {
  cautionsOf,
  describeFit,
  describeFittedOn,
  describeJudged,
  formatShare,
} from '../../../core/postprocessing/describe.ts';
import type { Detection, Measured } from '../../../core/postprocessing/measured-schema.ts';
import { postprocessingRequestSchema, usualRequest } from '../../../core/postprocessing/request.ts';
import type { Postprocessing } from '../../../core/postprocessing/schema.ts';
import { type CalibrationRequest, calibrationRequestSchema } from '../../../core/protocol/run/checkpoint-tasks.ts';
import { toJson } from '../../../core/protocol/wire/numbers.ts';
import type { RunRecord } from '../../../core/protocol/run/record.ts';
import { formatMetric } from '../../../core/text/numbers.ts';
import { type Calibrated, calibrateRun } from '../../calibration/calibrate-run.ts';
import { exitCodes, orUsageError, UsageError } from '../errors.ts';
import { withHub } from '../open-hub.ts';
import { findSubject } from '../../campaigns/sweep-plan.ts';
import { readRunRecord } from '../../store/runs/run-folder.ts';
import type { RunRow } from '../../../core/protocol/pages/run-list.ts';
import { type Look, lookOf, plainLook } from '../look.ts';
import { renderTable } from '../table.ts';
import { estimate, formatEstimate } from '../../../core/numeric/estimate.ts';
import type { CalibratedSweep } from '../../../core/protocol/pages/json-outputs.ts';

/** Options of `tutti calibrate`, as the command line gives them. */
export interface CalibrateArguments {
  set?: string;
  split: string;
  method: string;
  calibrationShare: string;
  conformal: string;
  alpha: string;
  classConditional?: boolean;
  outside: string;
  quantile: string;
  risk?: string;
  corruptions?: boolean;
  json?: boolean;
}

/** `tutti calibrate <run>`, or `tutti calibrate <sweep>`. @returns the exit code */
export function calibrate(name: string, options: CalibrateArguments): Promise<number> {
  return withHub(async (hub) => {
    const subject = await orUsageError(findSubject(hub, name));
    if (subject.kind === 'sweep') return calibrateRuns(subject.sweep.id, subject.rows, options);
    const { folder } = subject.row;
    const record = await hub.record(folder);
    const calibrated = await calibrateRun(folder, record, requestOf(options, record));
    for (const message of calibrated.warnings) console.error(`warning: ${message}`);
    const lines = options.json ? [toJson(calibrated)] : describeCalibrated(calibrated, lookOf(process.stdout));
    process.stdout.write(`${lines.join('\n')}\n`);
    return exitCodes.finished;
  });
}

/** Calibrates the finished runs of a sweep, one after the other. @returns the exit code */
async function calibrateRuns(sweep: string, rows: readonly RunRow[], options: CalibrateArguments): Promise<number> {
  const finished = rows.filter(({ status }) => status === 'finished');
  if (finished.length === 0) throw new UsageError(`No run of the sweep ${sweep} has finished: tutti resume ${sweep}.`);
  for (const { id, status } of rows.filter((row) => row.status !== 'finished'))
    console.error(`warning: ${id} is ${status}: left out.`);
  const runs: CalibratedRun[] = [];
  for (const { folder } of finished) {
    const record = await readRunRecord(folder);
    const { warnings, path, postprocessing } = await calibrateRun(folder, record, requestOf(options, record));
    for (const message of [...warnings, ...cautionsOf(postprocessing)])
      console.error(`warning: ${record.id}: ${message}`);
    runs.push({ record, path, measured: postprocessing.measured });
  }
  const summary = summarizeCalibrated(sweep, runs);
  const lines = options.json ? [toJson(summary)] : describeCalibratedSweep(summary, lookOf(process.stdout));
  process.stdout.write(`${lines.join('\n')}\n`);
  return exitCodes.finished;
}

/** @throws UsageError that names the wrong option */
export function requestOf(options: CalibrateArguments, { summary }: Pick<RunRecord, 'summary'>): CalibrationRequest {
  const { method, conformal, outside, classConditional = false, corruptions = false, split } = options;
  const request = postprocessingRequestSchema.safeParse({
    ...usualRequest,
    method,
    conformal,
    outside,
    calibrationShare: numberOf('--calibration-share', options.calibrationShare),
    alpha: numberOf('--alpha', options.alpha),
    quantile: numberOf('--quantile', options.quantile),
    risk: options.risk === undefined ? null : numberOf('--risk', options.risk),
    isClassConditional: classConditional,
  });
  if (!request.success) {
    const issue = request.error.issues[0];
    throw new UsageError(
      `${flagOf(issue.path.join('.'))}: ${issue.message}. \`tutti calibrate --help\` lists the options.`,
    );
  }
  const set = options.set ?? summary?.evaluatedSets[0]?.set ?? 'final';
  const best = summary?.evaluatedSets.some((found) => found.set === 'ensemble-best') ? 'ensemble-best' : set;
  return calibrationRequestSchema.parse({ set: options.set ?? best, split, request: request.data, corruptions });
}

function numberOf(option: string, text: string): number {
  const value = text.trim() === '' ? NaN : Number(text);
  if (Number.isFinite(value)) return value;
  throw new UsageError(`${option} "${text}": it must be a number.`);
}

/** What was fitted, and the figures before and after. */
export function describeCalibrated({ postprocessing, path }: Calibrated, look: Look = plainLook): string[] {
  const { set, fittedOn, measured } = postprocessing;
  const fitted =
    `Fitted ${set.name} (${set.members.length} members) on ${describeFittedOn(fittedOn)}: ` +
    `${describeFit(postprocessing)}.`;
  const figures =
    measured === null
      ? ['There is no other split to measure it on.']
      : describeMeasured(measured, postprocessing, look);
  const judged = describeJudged(postprocessing);
  const cautions = cautionsOf(postprocessing).map((caution) => `warning: ${caution}`);
  return [fitted, ...(judged === null ? [] : [judged]), ...cautions, '', ...figures, '', `Wrote ${path}`];
}

function describeMeasured(measured: Measured, { conformal }: Postprocessing, look: Look): string[] {
  const { split, samples, calibration } = measured;
  const columns = [
    { title: `${split} (${samples})` },
    { title: 'before', right: true },
    { title: 'after', right: true },
  ];
  const rows = Object.keys(calibration?.before ?? {}).map((name) => [
    name,
    formatMetric(calibration?.before[name] ?? NaN),
    formatMetric(calibration?.after[name] ?? NaN),
  ]);
  return [
    ...(calibration === null ? [] : [...renderTable(columns, rows, look), '']),
    ...describeCoverage(measured, conformal),
    ...describeSelective(measured),
    ...describeOutside(measured, look),
  ];
}

function describeCoverage({ conformal: found }: Measured, conformal: Postprocessing['conformal']): string[] {
  if (found === null || conformal === null) return [];
  const size =
    conformal.kind === 'sets'
      ? `${formatMetric(found.meanSize)} classes in a set`
      : `mean width ${formatMetric(found.meanSize)}`;
  return [
    `Coverage ${formatShare(found.coverage)} ± ${formatShare(found.standardError)} (wished ` +
      `${formatShare(1 - conformal.alpha)}), ${size}.`,
  ];
}

function describeSelective({ selective }: Measured): string[] {
  if (selective === null) return [];
  const areas = `AURC ${formatMetric(selective.aurc)}, AUGRC ${formatMetric(selective.augrc)}`;
  const { chosen } = selective;
  if (chosen === null) return [`${areas}.`];
  return [`${areas}; ${formatShare(chosen.coverage)} answered with a risk of ${formatMetric(chosen.risk)}.`];
}

function describeOutside({ outside, split }: Measured, look: Look): string[] {
  if (outside === null) return [];
  const flagged = Number.isFinite(outside.flagged)
    ? [`${formatShare(outside.flagged)} of ${split} counts as outside.`]
    : [];
  if (outside.others.length === 0) return flagged;
  const columns = [
    { title: 'outside the training data' },
    { title: 'flagged', right: true },
    { title: 'best score' },
    ...['AUROC', 'AUPR in', 'AUPR out', 'FPR95'].map((title) => ({ title, right: true })),
  ];
  return [...flagged, '', ...renderTable(columns, outside.others.map(rowOf), look)];
}

function rowOf({ name, flagged, scores }: Detection): string[] {
  const [best] = Object.entries(scores).toSorted(([, a], [, b]) => b.auroc - a.auroc);
  const figures = ['auroc', 'auprIn', 'auprOut', 'fpr95'].map((figure) => formatMetric(best[1][figure]));
  return [name, Number.isFinite(flagged) ? formatShare(flagged) : '-', best[0], ...figures];
}

/** A run of a sweep that was calibrated. */
interface CalibratedRun {
  record: Pick<RunRecord, 'id' | 'config'>;
  path: string;
  measured: Measured | null;
}

/**
 * Means with standard errors of the figures of a sweep's runs. A figure that is NaN or infinite is left out, and its
 * run named.
 */
function summarizeCalibrated(sweep: string, runs: readonly CalibratedRun[]): CalibratedSweep {
  const measured = runs.map(({ record, measured: found }) => ({ seed: record.config.seed, figures: figuresOf(found) }));
  const names = [...new Set(measured.flatMap(({ figures }) => [...figures.keys()]))];
  return {
    sweep,
    runs: runs.map(({ record, path }) => ({ id: record.id, seed: record.config.seed, path })),
    figures: names.map((name) => {
      const own = measured.map(({ seed, figures }) => ({
        seed,
        ...(figures.get(name) ?? { before: null, after: NaN }),
      }));
      const whole = own.filter(
        ({ before, after }) => Number.isFinite(after) && (before === null || Number.isFinite(before)),
      );
      const before = whole.flatMap((figure) => (figure.before === null ? [] : [figure.before]));
      return {
        name,
        before: before.length === 0 ? null : estimate(before),
        after: estimate(whole.map(({ after }) => after)),
        leftOut: own.filter((figure) => !whole.includes(figure)).map(({ seed }) => seed),
      };
    }),
  };
}

function describeCalibratedSweep({ sweep, runs, figures }: CalibratedSweep, look: Look = plainLook): string[] {
  const columns = ['', 'before', 'after', 'seeds'].map((title, index) => ({ title, right: index > 0 }));
  const rows = figures.map(({ name, before, after }) => [
    name,
    before === null ? '-' : formatEstimate(before),
    formatEstimate(after),
    String(after.count),
  ]);
  const warnings = figures.flatMap(({ name, leftOut }) =>
    leftOut.map((seed) => `warning: seed ${seed} has no finite ${name}: left out.`),
  );
  return [
    `Fitted ${runs.length} runs of the sweep ${sweep}; mean ± standard error (s / √n) over seeds:`,
    '',
    ...renderTable(columns, rows, look),
    ...warnings,
  ];
}

/** What was measured on the other split, by name; `before` is null where nothing changed a figure. */
function figuresOf(measured: Measured | null): Map<string, { before: number | null; after: number }> {
  if (measured === null) return new Map();
  const { calibration, conformal, selective } = measured;
  const fitted = Object.entries(calibration?.after ?? {}).map(
    ([name, after]) => [name, { before: calibration?.before[name] ?? NaN, after }] as const,
  );
  const others = Object.entries({
    ...(conformal === null ? {} : { coverage: conformal.coverage, 'mean size': conformal.meanSize }),
    ...(selective === null ? {} : { AURC: selective.aurc }),
  }).map(([name, after]) => [name, { before: null, after }] as const);
  return new Map<string, { before: number | null; after: number }>([...fitted, ...others]);
}
