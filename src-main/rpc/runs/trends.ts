import type { HubParts } from '../../hub/run-feed.ts';
import type { RunRow } from '../../../core/protocol/pages/run-list.ts';
import { spread } from '../../../core/series/extremes.ts';

/** A sparkline shows no more. */
const maximumPoints = 48;
/** Reading the metrics of many long runs takes longer; pages ask again for what is missing. */
const patienceMs = 500;

/** The course of the monitored metric of each run that has one. Ended runs are read once and kept in the index. */
export async function readTrends(parts: HubParts, ids: readonly string[]): Promise<Record<string, Float64Array>> {
  const startedMs = performance.now();
  const rows = parts.hub.runs({ ids: [...ids] });
  const found: [id: string, points: Float64Array][] = [];
  const unread: RunRow[] = [];
  for (const row of rows) {
    const kept = row.endedAt === null ? null : parts.hub.index.trends.get(row.folder, stampOf(row));
    if (kept !== null) found.push([row.id, kept]);
    else unread.push(row);
  }
  for (const row of unread) {
    if (performance.now() - startedMs > patienceMs) break;
    const points = await readTrend(parts, row);
    if (row.endedAt !== null) parts.hub.index.trends.put(row.folder, stampOf(row), points);
    found.push([row.id, points]);
  }
  return Object.fromEntries(found);
}

async function readTrend({ feed }: HubParts, { id, best }: RunRow): Promise<Float64Array> {
  if (best === null) return new Float64Array();
  const column = (await feed.open(id)).columns.get(best.metric);
  return column === undefined ? new Float64Array() : spread(column.value, column.length, maximumPoints);
}

function stampOf({ endedAt, best }: RunRow): string {
  return `${endedAt ?? ''} ${best?.metric ?? ''}`;
}
