import type { DatabaseSync } from 'node:sqlite';
import type {
  ActiveRun,
  RunListChange,
  RunOverview,
  RunPage,
  RunRow,
  SweepGroup,
} from '../../../core/protocol/pages/run-list.ts';
import { type Parameters, selectRuns } from './indexed-run.ts';
import { summarizeRuns } from './run-groups.ts';
import { type IndexQuery, readValues, toClauses } from './run-query.ts';
import { estimate } from '../../../core/numeric/estimate.ts';
import { sweepStatus } from '../../../core/protocol/pages/sweep-summary.ts';

/** The runs of one page of a list, and the number of runs on all its pages. */
export function readPage(database: DatabaseSync, query: IndexQuery): RunPage {
  if (query.isGrouped) return readGrouped(database, query);
  const { where, order, parameters } = toClauses(query);
  const rows = query.limit === 0 ? [] : selectRuns(database, `${where} ${order}`, parameters);
  const isWhole = query.limit === undefined && query.offset === undefined;
  const total = isWhole ? rows.length : count(database, where, parameters);
  return { rows, total, ...valuesOf(database, query, rows) };
}

/** The values of each row, if the query names fields. */
function valuesOf(database: DatabaseSync, { fields }: IndexQuery, rows: readonly RunRow[]): Pick<RunPage, 'values'> {
  if (fields === undefined) return {};
  const byFolder = readValues(
    database,
    fields,
    rows.map(({ folder }) => folder),
  );
  return { values: rows.map(({ folder }) => byFolder.get(folder) ?? []) };
}

/** The same, with one row for each sweep. */
function readGrouped(database: DatabaseSync, query: IndexQuery): RunPage {
  const { where, sorting, order, parameters } = toClauses(query);
  const first = `WHERE folder IN (SELECT folder FROM (SELECT folder,
    row_number() OVER (PARTITION BY coalesce(sweep_id, folder) ${sorting}) AS place FROM runs ${where}) WHERE place = 1)`;
  const rows = selectRuns(database, `${first} ${order}`, parameters);
  const ids = [...new Set(rows.flatMap(({ sweep }) => (sweep === null ? [] : [sweep.id])))];
  const inSweeps = 'WHERE sweep_id IN (SELECT value FROM json_each(:ids)) ORDER BY created_at, folder';
  const runs = ids.length === 0 ? [] : selectRuns(database, inSweeps, { ids: JSON.stringify(ids) });
  const bySweep = Map.groupBy(runs, ({ sweep }) => sweep?.id ?? '');
  return {
    rows,
    total: count(database, first, parameters),
    sweeps: ids.map((id) => {
      const ofSweep = bySweep.get(id) ?? [];
      const values = query.fields === undefined ? {} : { values: summarizeRuns(database, query.fields, ofSweep) };
      return { ...groupOf(ofSweep), ...values };
    }),
    ...valuesOf(database, query, rows),
  };
}

/** A project of which there are runs. */
export interface TrainedProject {
  folder: string;
  /** When an attempt of its runs began last. */
  lastStartedAt: string;
}

/** The projects of all runs, the last used first, each with its last spelling. */
export function readProjects(database: DatabaseSync, limit: number): TrainedProject[] {
  return database
    .prepare(
      `SELECT project_folder AS folder, max(started_at) AS last FROM runs
      GROUP BY project_key ORDER BY last DESC, folder LIMIT :limit`,
    )
    .all({ limit })
    .map(({ folder, last }) => ({ folder: String(folder), lastStartedAt: String(last) }));
}

export function readOverview(database: DatabaseSync): RunOverview {
  const texts = (select: string): string[] =>
    database
      .prepare(select)
      .all()
      .map(({ text }) => String(text));
  const open = "WHERE status IN ('created', 'running') ORDER BY created_at DESC, folder";
  return {
    total: count(database, '', {}),
    active: selectRuns(database, open, {}).map(({ id, name, project, status }): ActiveRun => ({
      id,
      name,
      project,
      status,
    })),
    projects: texts('SELECT DISTINCT project AS text FROM runs ORDER BY project'),
    tags: texts("SELECT DISTINCT value AS text FROM runs, json_each(tags) WHERE tags <> '[]' ORDER BY value"),
  };
}

/**
 * The id of the sweep to which all runs belong that a text may mean; null if there is none, or the text names one of
 * its runs.
 */
export function findSweepId(database: DatabaseSync, text: string): string | null {
  const [found, ...others] = database
    .prepare(
      `SELECT DISTINCT coalesce(sweep_id, id) AS id, sweep_id AS sweep FROM runs
      WHERE (substr(id, 1, length(:text)) = :text AND length(:text) <= coalesce(length(sweep_id), length(id)))
        OR lower(name) = lower(:text) OR lower(json_extract(sweep, '$.name')) = lower(:text)`,
    )
    .all({ text });
  if (text === '' || found === undefined || others.length > 0 || found.sweep === null) return null;
  return String(found.sweep);
}

/**
 * Grows with every change of a row, by this process or another. It is smaller than before if the index was made again.
 */
export function readRevision(database: DatabaseSync): number {
  return Number(database.prepare('SELECT coalesce(max(revision), 0) AS revision FROM changes').get()?.revision);
}

/** The changes after a revision, of which `limit` rows are named. */
export function readChanges(
  database: DatabaseSync,
  since: number,
  limit: number,
): Omit<RunListChange, 'overview'> & { revision: number } {
  const revision = readRevision(database);
  if (revision === since) return { changed: [], removed: [], isPartial: false, revision };
  if (revision < since) return { changed: [], removed: [], isPartial: true, revision };
  const found = database
    .prepare('SELECT folder, id FROM changes WHERE revision > :since ORDER BY revision DESC LIMIT :limit')
    .all({ since, limit: limit + 1 });
  const named = found.slice(0, limit);
  const folders = JSON.stringify(named.map(({ folder }) => folder));
  const changed = selectRuns(database, 'WHERE folder IN (SELECT value FROM json_each(:folders))', { folders });
  const present = new Set(changed.map(({ folder }) => folder));
  const removed = named.filter(({ folder }) => !present.has(String(folder))).map(({ id }) => String(id));
  return { changed, removed, isPartial: found.length > limit, revision };
}

function count(database: DatabaseSync, where: string, parameters: Parameters): number {
  const statement = database.prepare(`SELECT count(*) AS count FROM runs ${where}`);
  statement.setAllowUnknownNamedParameters(true);
  return Number(statement.get(parameters)?.count);
}

/**
 * What a list shows of a sweep.
 * @param rows its runs, at least one, the oldest first; of copies only the first counts
 */
function groupOf(rows: readonly RunRow[]): SweepGroup {
  const byPlace = new Map(rows.toReversed().map((row) => [row.sweep?.index ?? 0, row]));
  const runs = [...byPlace.values()];
  const sweep = rows[0]?.sweep ?? null;
  if (sweep === null) throw new Error('A sweep has runs that name it.');
  const finished = runs.filter(({ status }) => status === 'finished');
  const metric = finished.find(({ best }) => best !== null)?.best?.metric;
  const values = finished.flatMap(({ best }) =>
    best !== null && best.metric === metric && Number.isFinite(best.value) ? [best.value] : [],
  );
  return {
    id: sweep.id,
    name: sweep.name,
    of: sweep.of,
    finished: finished.length,
    status: sweepStatus(sweep, runs),
    best: metric === undefined || values.length === 0 ? null : { metric, ...estimate(values) },
  };
}
