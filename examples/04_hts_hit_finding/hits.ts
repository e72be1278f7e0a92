import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Hits of each search after each of its labels, by acquisition; one array for each seed. */
export type HitsOfArms = ReadonlyMap<string, readonly (readonly number[])[]>;

/** A line of `rounds.jsonl` (docs/formats.md). */
interface Line {
  type: 'start' | 'choice' | 'labels';
  arm: string;
  indices: number[];
  values: number[];
}

/** The hits of each acquisition of a search after each of its labels. */
export async function hitsIn(folder: string): Promise<Map<string, number[]>> {
  const lines = (await readFile(join(folder, 'rounds.jsonl'), 'utf8')).trimEnd().split('\n');
  const labels = new Map<number, number>();
  const chosen = new Map<string, number[]>();
  let start: number[] = [];
  for (const { type, arm, indices, values } of lines.map((line) => JSON.parse(line) as Line)) {
    if (type === 'start') start = indices;
    else if (type === 'labels') indices.forEach((index, i) => labels.set(index, values[i]));
    else chosen.set(arm, [...(chosen.get(arm) ?? start), ...indices]);
  }
  return new Map(
    [...chosen].map(([arm, indices]) => {
      let hits = 0;
      return [arm, indices.map((index) => (hits += labels.get(index) ?? 0))];
    }),
  );
}

/** The mean, and its standard error; NaN for a single value. */
export function meanAndError(values: readonly number[]): { mean: number; error: number } {
  const mean = values.reduce((sum, own) => sum + own, 0) / values.length;
  const squares = values.reduce((sum, own) => sum + (own - mean) ** 2, 0);
  return { mean, error: Math.sqrt(squares / (values.length - 1) / values.length) };
}

/** Rows of a table of hits after some labels, and of the differences to greedy choices from the same starts. */
export function tableOfHits(found: HitsOfArms, marks: readonly number[]): string {
  const header = ['acquisition', ...marks.map((mark) => `${mark.toLocaleString('en')} labels`)];
  const rows = [...found].map(([arm, hits]) => [arm, ...marks.map((mark) => describe(at(hits, mark)))]);
  const greedy = found.get('greedy') ?? [];
  const differences = [...found]
    .filter(([arm]) => arm !== 'greedy' && greedy.length > 0)
    .map(([arm, hits]) => [
      `${arm} − greedy`,
      ...marks.map((mark) => describe(at(hits, mark).map((own, seed) => own - at(greedy, mark)[seed]))),
    ]);
  return [header, header.map(() => '---'), ...rows, ...differences].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

function at(hits: readonly (readonly number[])[], labels: number): number[] {
  return hits.map((own) => own[labels - 1] ?? NaN);
}

/** A dash where a search has fewer labels. */
function describe(hits: readonly number[]): string {
  if (hits.some(Number.isNaN)) return '-';
  const { mean, error } = meanAndError(hits);
  return Number.isNaN(error) ? mean.toFixed(1) : `${mean.toFixed(1)} ± ${error.toFixed(1)}`;
}
