import { formatMetric, metricLabel } from '../../../core/text/numbers.ts';
import { toJson } from '../../../core/protocol/wire/numbers.ts';
import { type RunStatus, runStatusSchema } from '../../../core/protocol/run/record.ts';
import type { RunRow } from '../../../core/protocol/pages/run-list.ts';
import { UsageError, exitCodes } from '../errors.ts';
import { countEpoch, formatDuration } from '../format.ts';
import { withHub } from '../open-hub.ts';
import { renderTable } from '../table.ts';

export interface RunsOptions {
  status: string[];
  project?: string;
  search?: string;
  limit?: string;
  json?: boolean;
}

const columns = [
  { title: 'id' },
  { title: 'name' },
  { title: 'project' },
  { title: 'status' },
  { title: 'members', right: true },
  { title: 'best' },
  { title: 'started' },
  { title: 'duration', right: true },
];

/** `tutti runs`: lists all known runs, the newest first. @returns the exit code */
export function listRuns(options: RunsOptions): Promise<number> {
  const { project, search } = options;
  const status = options.status.length === 0 ? undefined : options.status.map(parseStatus);
  const limit = options.limit === undefined ? undefined : parseLimit(options.limit);
  return withHub(async (hub) => {
    const runs = hub.runs({ statuses: status, project, search, limit });
    const isFiltered = status !== undefined || project !== undefined || search !== undefined;
    const lines = options.json ? runs.map((run) => toJson(run)) : describeRuns(runs, { isFiltered, nowMs: Date.now() });
    for (const line of lines) process.stdout.write(`${line}\n`);
    return exitCodes.finished;
  });
}

/** A table of runs, or advice if there are none. */
export function describeRuns(runs: readonly RunRow[], context: { isFiltered: boolean; nowMs: number }): string[] {
  if (runs.length > 0)
    return renderTable(
      columns,
      runs.map((run) => describeRun(run, context.nowMs)),
    );
  if (context.isFiltered) return ['No run matches. `tutti runs` lists all runs.'];
  return [
    'There are no runs yet. Start one: tutti train <project>, for instance examples/00_heteroscedastic_regression.',
  ];
}

function describeRun(run: RunRow, nowMs: number): string[] {
  const { id, name, project, status, notFinite, members, createdAt } = run;
  const started = createdAt.slice(0, 16).replace('T', ' ');
  return [
    id,
    name,
    project,
    notFinite === null ? status : `${status}, ${notFinite}`,
    String(members),
    describeBest(run),
    `${started} UTC`,
    describeDuration(run, nowMs),
  ];
}

function describeBest({ best }: RunRow): string {
  return best === null ? '-' : `${metricLabel(best.metric)} ${formatMetric(best.value)} @ ${countEpoch(best.epoch)}`;
}

function describeDuration({ status, createdAt, endedAt }: RunRow, nowMs: number): string {
  const endMs = endedAt !== null ? Date.parse(endedAt) : status === 'running' ? nowMs : null;
  return endMs === null ? '-' : formatDuration(endMs - Date.parse(createdAt));
}

function parseStatus(text: string): RunStatus {
  const parsed = runStatusSchema.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new UsageError(`--status "${text}": it must be one of ${runStatusSchema.options.join(', ')}.`);
}

function parseLimit(text: string): number {
  if (/^[1-9]\d*$/.test(text)) return Number(text);
  throw new UsageError(`--limit "${text}": it must be a whole number of at least 1.`);
}
