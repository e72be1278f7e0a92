import { band, BLUE, figure, type Figure, INK, line, type Mark, MUTED, VERMILLION } from 'tutti-ensembles';
import { type HitsOfArms, meanAndError } from './hits.ts';

const looks: Readonly<Record<string, { color: string; label: string; dash: readonly number[] }>> = {
  ucb: { color: BLUE, label: 'UCB', dash: [] },
  greedy: { color: VERMILLION, label: 'Greedy', dash: [] },
  ei: { color: INK, label: 'Expected improvement', dash: [6, 4] },
  random: { color: MUTED, label: 'Random', dash: [] },
};

/** Hits over labels: means over the seeds, with bands of one standard error. */
export function hitsFigure(screen: string, found: HitsOfArms): Figure {
  const seeds = Math.max(...[...found.values()].map(({ length }) => length));
  const title = `${screen}: hits over labels, mean and standard error over ${seeds} starts`;
  const marks = [...found].flatMap(([arm, hits]) => curve(arm, hits));
  const panels = [{ xLabel: 'Labels', yLabel: 'Hits', legend: 'top-left' as const, marks }];
  return figure({ title, width: 720, height: 440, rows: 1, columns: 1, panels });
}

function curve(arm: string, hits: readonly (readonly number[])[]): Mark[] {
  const { color, label, dash } = looks[arm] ?? { color: INK, label: arm, dash: [2, 3] };
  const length = Math.min(...hits.map((own) => own.length));
  const x = Array.from({ length }, (_, i) => i + 1);
  const moments = x.map((_, i) => meanAndError(hits.map((own) => own[i])));
  const y = moments.map(({ mean }) => mean);
  const lower = moments.map(({ mean, error }) => mean - error);
  const upper = moments.map(({ mean, error }) => mean + error);
  return [band({ x, lower, upper, color, opacity: 0.15 }), line({ x, y, color, width: 2, dash, label })];
}
