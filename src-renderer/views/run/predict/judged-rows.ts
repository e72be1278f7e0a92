import { outsideColumn, type PredictionColumn } from '../../../../core/ensemble/columns.ts';
import type { OutsideScore, Postprocessing } from '../../../../core/postprocessing/schema.ts';

/** Which rows a table of answers lists. */
export const rowFilters = [
  { id: 'all', title: 'All', help: 'All rows.' },
  { id: 'answered', title: 'Answered', help: 'Rows that are neither outside the training data nor withheld.' },
  { id: 'outside', title: 'Outside', help: 'Rows that are outside the training data.' },
  { id: 'withheld', title: 'Withheld', help: 'Rows whose confidence is too low for the wished risk.' },
] as const;
export type RowFilter = (typeof rowFilters)[number]['id'];

/** The filters that the columns can tell apart: none where no threshold was fitted. */
export function filtersOf(columns: readonly PredictionColumn[]): (typeof rowFilters)[number][] {
  const judged = (['outside', 'withheld'] as const).filter((name) => flagsOf(columns, name) !== null);
  if (judged.length === 0) return [];
  return rowFilters.filter(({ id }) => id === 'all' || id === 'answered' || judged.includes(id));
}

/** The rows that a filter lists, ascending from 0. */
export function filteredRows(columns: readonly PredictionColumn[], filter: RowFilter): number[] {
  const [outside, withheld] = [flagsOf(columns, 'outside'), flagsOf(columns, 'withheld')];
  const isListed = (row: number): boolean => {
    const [isOutside, isWithheld] = [outside?.[row] === 1, withheld?.[row] === 1];
    switch (filter) {
      case 'all':
        return true;
      case 'answered':
        return !isOutside && !isWithheld;
      case 'outside':
        return isOutside;
      case 'withheld':
        return isWithheld;
    }
  };
  return Array.from({ length: columns[0]?.values.length ?? 0 }, (_, row) => row).filter(isListed);
}

/** A score of how unlike the training data a sample is, beside its threshold. */
export interface ShownScore {
  score: OutsideScore;
  value: number;
  threshold: number;
  isOutside: boolean;
  /** Whether this score decides if the sample counts as outside. */
  decides: boolean;
}

/** The scores of a row that have a threshold; the one that decides comes first. */
export function shownScores(
  columns: readonly PredictionColumn[],
  row: number,
  outside: Postprocessing['outside'],
): ShownScore[] {
  if (outside === null) return [];
  return [outside, ...(outside.others ?? [])].flatMap(({ score, threshold }, place): ShownScore[] => {
    const column = columns.find(({ name, type }) => name === outsideColumn(score) && type === 'number');
    if (column?.type !== 'number') return [];
    const value = column.values[row];
    return [{ score, value, threshold, isOutside: !(value <= threshold), decides: place === 0 }];
  });
}

function flagsOf(columns: readonly PredictionColumn[], wanted: 'outside' | 'withheld'): Uint8Array | null {
  const column = columns.find(({ name, type }) => name === wanted && type === 'boolean');
  return column?.type === 'boolean' ? column.values : null;
}
