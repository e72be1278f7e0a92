import { placesBy, type SampleScore, type SampleTable } from './sample-table.ts';

/** Which samples are listed, and in which order. */
export interface SampleChoice {
  /** The score whose largest values come first, or the order of the data. */
  order: SampleScore | 'sample';
  /** Whether only samples are listed that the ensemble classifies wrongly. Of values none is. */
  isWrongOnly: boolean;
  /** The class of all listed samples; null: all classes. */
  label: number | null;
  /** The class for which the ensemble takes all listed samples; null: all classes. */
  predicted: number | null;
}

/** The rows of the table that are listed, in their order. */
export function shownPlaces(table: SampleTable, { order, isWrongOnly, label, predicted }: SampleChoice): Int32Array {
  const all =
    order === 'sample'
      ? Int32Array.from({ length: table.length }, (_, place) => place)
      : placesBy(table.scores[order].values);
  const { classes } = table;
  if (classes === null || (!isWrongOnly && label === null && predicted === null)) return all;
  const { labels, chosen } = classes;
  return all.filter(
    (place) =>
      (!isWrongOnly || chosen[place] !== labels[place]) &&
      (label === null || labels[place] === label) &&
      (predicted === null || chosen[place] === predicted),
  );
}
