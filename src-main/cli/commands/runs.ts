import { tutti } from '../../../core/text/program.ts';
import { countEpoch, formatMetric, metricLabel } from '../../../core/text/numbers.ts';
import { toJson } from '../../../core/protocol/wire/numbers.ts';
import { type RunStatus, runStatusSchema } from '../../../core/protocol/run/record.ts';
import type { RunRow } from '../../../core/protocol/pages/run-list.ts';
import { UsageError, exitCodes } from '../errors.ts';
import { formatDuration } from '../progress.ts';
import { withHub } from '../open-hub.ts';
import { type Look, lookOf, plainLook, statusStyles } from '../look.ts';
import { renderTable } from '../table.ts';

export interface RunsOptions {
  status: string[];
  project?: string;
  search?: string;
  limit?: string;
  tag?: string;
  /** Only archived runs. */
  archived?: boolean;
  /** Also archived runs. */
  all?: boolean;
  json?: boolean;
}

const columns = [
  { title: 'id' },
  { title: 'name', least: 12 },
  { title: 'project', least: 10, dispensable: 3 },
  {
    title: 'status',
    least: 11,
    style: (cell: string) => statusStyles[runStatusSchema.safeParse(cell.split(',')[0]).data ?? 'failed'],
  },
  { title: 'members', right: true, dispensable: 4 },
  { title: 'best', least: 12 },
  { title: 'started', dispensable: 2 },
  { title: 'duration', right: true, dispensable: 5 },
];
const tagColumn = { title: 'tags', least: 8, dispensable: 1 };

/** `tutti runs`: lists all known runs, the newest first. @returns the exit code */
export function listRuns(options: RunsOptions): Promise<number> {
  const { project, search, tag, archived = false, all = false } = options;
  if (archived && all) throw new UsageError('--archived lists only archived runs, --all also them: omit one.');
  const isArchived = all ? undefined : archived;
  const status = options.status.length === 0 ? undefined : options.status.map(parseStatus);
  const limit = options.limit === undefined ? undefined : parseLimit(options.limit);
  return withHub(async (hub) => {
    const runs = hub.runs({ statuses: status, project, search, tag, isArchived, limit });
    const isFiltered = [status, project, search, tag].some((filter) => filter !== undefined) || !all;
    const context = { isFiltered: isFiltered && hub.runs({ limit: 1 }).length > 0, nowMs: Date.now() };
    const lines = options.json
      ? runs.map((run) => toJson(run))
      : describeRuns(runs, { ...context, look: lookOf(process.stdout) });
    for (const line of lines) process.stdout.write(`${line}\n`);
    return exitCodes.finished;
  });
}

/** A table of runs, or advice if there are none. */
export function describeRuns(
  runs: readonly RunRow[],
  { isFiltered, nowMs, look = plainLook }: { isFiltered: boolean; nowMs: number; look?: Look },
): string[] {
  if (runs.length > 0) {
    const hasTags = runs.some(({ tags }) => tags.length > 0);
    return renderTable(
      hasTags ? [...columns, tagColumn] : columns,
      runs.map((run) => [...describeRun(run, nowMs), ...(hasTags ? [run.tags.join(', ')] : [])]),
      look,
    );
  }
  if (isFiltered) return [`No run matches. \`${tutti} runs --all\` lists all runs, also archived ones.`];
  return [`There are no runs yet. Start one: ${tutti} train <project>, for instance examples/digits.`];
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

function describeDuration({ status, startedAt, endedAt, trainedSeconds }: RunRow, nowMs: number): string {
  if (endedAt !== null) return formatDuration(1000 * trainedSeconds);
  return status === 'running' ? formatDuration(1000 * trainedSeconds + nowMs - Date.parse(startedAt)) : '-';
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
