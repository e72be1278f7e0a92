import type { z } from 'zod';
import { leavesOf } from '../../../../core/options/index.ts';
import type { comparisonSchema } from '../../../../core/protocol/pages/json-outputs.ts';
import type { RunRecord } from '../../../../core/protocol/run/record.ts';
import { formatMetric, metricLabel } from '../../../../core/text/numbers.ts';
import { toJson } from '../../../../core/protocol/wire/numbers.ts';
import { exitCodes, orUsageError, UsageError } from '../../errors.ts';
import { countEpoch } from '../../format.ts';
import { withHub } from '../../open-hub.ts';
import { type Look, lookOf, plainLook } from '../../output/look.ts';
import { renderTable } from '../../output/table.ts';

/** A run in a comparison. */
export type ComparedRun = Pick<RunRecord, 'id' | 'name' | 'task' | 'status' | 'config' | 'summary'>;

/** What differs between runs. */
export type Comparison = z.output<typeof comparisonSchema>;

/** `tutti compare <runs...>`. @returns the exit code */
export function compare(names: readonly string[], { json = false }: { json?: boolean }): Promise<number> {
  if (names.length < 2) throw new UsageError('Name two runs or more: tutti compare <run> <run>.');
  return withHub(async (hub) => {
    const runs = await Promise.all(
      names.map(async (name) => {
        const row = await orUsageError(hub.find(name));
        return { ...(await hub.record(row.folder)), id: row.id, name: row.name };
      }),
    );
    const comparison = compareRuns(runs);
    const lines = json ? [toJson(comparison)] : describeComparison(comparison, lookOf(process.stdout));
    process.stdout.write(`${lines.join('\n')}\n`);
    return exitCodes.finished;
  });
}

/** Compares the records of runs. */
export function compareRuns(runs: readonly ComparedRun[]): Comparison {
  const best = runs.map(({ summary }) => {
    const found = summary?.best ?? null;
    return found === null ? null : { metric: found.metric, value: found.value, epoch: found.epoch };
  });
  const named = runs.map(({ id, name, status }) => ({ id, name, status }));
  return { runs: named, options: differingOptions(runs), metrics: metricsOfSets(runs), best };
}

function differingOptions(runs: readonly ComparedRun[]): Comparison['options'] {
  const leaves = runs.map(({ config }) => new Map(leavesOf(config)));
  const paths = [...new Set(leaves.flatMap((options) => [...options.keys()]))];
  return paths.flatMap((path) => {
    const values = leaves.map((options) => options.get(path) ?? null);
    return new Set(values.map((value) => toJson(value))).size === 1 ? [] : [{ path, values }];
  });
}

function metricsOfSets(runs: readonly ComparedRun[]): Comparison['metrics'] {
  const sets = runs.flatMap(({ summary }) => summary?.evaluatedSets ?? []);
  const keys = new Map(
    sets.flatMap(({ set, split, ensemble }) =>
      Object.keys(ensemble).map((metric) => [`${set} ${split} ${metric}`, { set, split, metric }] as const),
    ),
  );
  return [...keys.values()].map(({ set, split, metric }) => ({
    set,
    split,
    metric,
    values: runs.map(
      ({ summary }) =>
        summary?.evaluatedSets.find((found) => found.set === set && found.split === split)?.ensemble[metric] ?? null,
    ),
  }));
}

/** A column for each run: status, best evaluation, metrics of the ensembles, and the options that differ. */
export function describeComparison({ runs, options, metrics, best }: Comparison, look: Look = plainLook): string[] {
  const columns = [{ title: '', least: 16 }, ...runs.map(({ id }) => ({ title: id, right: true }))];
  const show = (value: unknown): string => (typeof value === 'string' ? value : value === null ? '-' : toJson(value));
  const rows = [
    ['name', ...runs.map(({ name }) => name)],
    ['status', ...runs.map(({ status }) => status)],
    ['best', ...best.map((found) => (found === null ? '-' : describeBest(found)))],
    ...metrics.map(({ set, split, metric, values }) => [
      `${set} on ${split}: ${metric}`,
      ...values.map((value) => (value === null ? '-' : formatMetric(value))),
    ]),
    ...options.map(({ path, values }) => [path, ...values.map(show)]),
  ];
  const same = options.length === 0 ? ['', 'All options are the same.'] : [];
  return [...renderTable(columns, rows, look), ...same];
}

function describeBest({ metric, value, epoch }: { metric: string; value: number; epoch: number }): string {
  return `${metricLabel(metric)} ${formatMetric(value)} @ ${countEpoch(epoch)}`;
}
