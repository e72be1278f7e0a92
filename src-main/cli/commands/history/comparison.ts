import type { z } from 'zod';
import { leavesOf } from '../../../../core/options/index.ts';
import type { comparisonSchema } from '../../../../core/protocol/pages/json-outputs.ts';
import { sweepStatus } from '../../../../core/protocol/pages/sweep-summary.ts';
import type { RunRecord } from '../../../../core/protocol/run/record.ts';
import { pairedDifferences } from '../../../../core/protocol/run/sweep/paired-differences.ts';
import type { Sweep } from '../../../../core/protocol/run/sweep/sweep.ts';
import { bestOverSeeds, finishedRuns, sweepScores } from '../../../../core/protocol/run/sweep/sweep-scores.ts';
import { toJson } from '../../../../core/protocol/wire/numbers.ts';

/** A run in a comparison. */
export type ComparedRun = Pick<RunRecord, 'id' | 'name' | 'task' | 'status' | 'config' | 'summary' | 'sweep'>;

/** A sweep in a comparison, with its runs in the order of their seeds. */
export interface ComparedSweep {
  sweep: Sweep;
  runs: readonly [ComparedRun, ...ComparedRun[]];
}

export type Compared = ComparedRun | ComparedSweep;

/** What differs between runs, and sweeps. */
export type Comparison = z.output<typeof comparisonSchema>;

/** Compares the records of runs and sweeps. */
export function compareRuns(compared: readonly Compared[]): Comparison {
  const columns = compared.map(columnOf);
  return {
    runs: columns.map(({ head }) => head),
    options: differingOptions(compared),
    metrics: metricsOf(columns),
    best: columns.map(({ best }) => best),
    differences: differencesOf(compared),
  };
}

interface Score {
  set: string;
  split: string;
  metric: string;
  value: number;
  standardError: number | null;
}

interface Column {
  head: Comparison['runs'][number];
  best: Comparison['best'][number];
  scores: Score[];
}

function columnOf(compared: Compared): Column {
  return isSweep(compared) ? columnOfSweep(compared) : columnOfRun(compared);
}

function columnOfRun({ id, name, status, summary }: ComparedRun): Column {
  const best = summary?.best ?? null;
  return {
    head: { id, name, status, seeds: null },
    best: best && { metric: best.metric, value: best.value, epoch: best.epoch, standardError: null },
    scores: (summary?.evaluatedSets ?? []).flatMap(({ set, split, ensemble }) =>
      Object.entries(ensemble).map(([metric, value]) => ({ set, split, metric, value, standardError: null })),
    ),
  };
}

function columnOfSweep({ sweep, runs }: ComparedSweep): Column {
  const best = bestOverSeeds(runs);
  const seeds = { finished: finishedRuns(runs).length, of: sweep.of };
  return {
    head: { id: sweep.id, name: sweep.name, status: sweepStatus(sweep, runs), seeds },
    best: best && { metric: best.metric, value: best.mean, epoch: null, standardError: best.standardError },
    scores: sweepScores(runs).map(({ set, split, metric, ensemble: { mean, standardError } }) => ({
      set,
      split,
      metric,
      value: mean,
      standardError,
    })),
  };
}

function differingOptions(compared: readonly Compared[]): Comparison['options'] {
  const configs = compared.map((one) => (isSweep(one) ? one.runs[0].config : one.config));
  const leaves = configs.map((config) => new Map(leavesOf(config)));
  const paths = [...new Set(leaves.flatMap((options) => [...options.keys()]))];
  return paths.flatMap((path) => {
    const values = leaves.map((options) => options.get(path) ?? null);
    return new Set(values.map((value) => toJson(value))).size === 1 ? [] : [{ path, values }];
  });
}

function metricsOf(columns: readonly Column[]): Comparison['metrics'] {
  const keys = new Map(
    columns.flatMap(({ scores }) =>
      scores.map(({ set, split, metric }) => [keyOf({ set, split, metric }), { set, split, metric }] as const),
    ),
  );
  const scores = columns.map((column) => new Map(column.scores.map((score) => [keyOf(score), score])));
  return [...keys].map(([key, place]) => ({
    ...place,
    values: scores.map((own) => own.get(key)?.value ?? null),
    standardErrors: scores.map((own) => own.get(key)?.standardError ?? null),
  }));
}

/** The differences of each sweep from the first one. */
function differencesOf(compared: readonly Compared[]): Comparison['differences'] {
  const [first, ...others] = compared.filter(isSweep);
  return others.flatMap(({ sweep, runs }) =>
    pairedDifferences(first.runs, runs).map(({ set, split, metric, difference }) => ({
      of: sweep.id,
      from: first.sweep.id,
      set,
      split,
      metric,
      ...difference,
    })),
  );
}

function isSweep(compared: Compared): compared is ComparedSweep {
  return 'runs' in compared;
}

function keyOf({ set, split, metric }: Pick<Score, 'set' | 'split' | 'metric'>): string {
  return `${set} ${split} ${metric}`;
}
