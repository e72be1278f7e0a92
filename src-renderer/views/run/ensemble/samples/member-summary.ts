import { formatValue } from '../../../../../core/text/numbers.ts';
import type { Answer, SampleTable } from './sample-table.ts';

/** More members are summarized: a row with an answer of each would be many lines high. */
export const mostListed = 8;

/**
 * What many members predict for a row: how many choose each class, the most frequent first, or the range of their
 * values.
 */
export function summarizeMembers(
  { classes, quantitiesAt }: Pick<SampleTable, 'classes' | 'quantitiesAt'>,
  place: number,
  members: readonly Answer[],
): Answer[] {
  if (classes === null) {
    const values = quantitiesAt(place).flatMap((quantity) => quantity.members.map(({ value }) => value));
    const finite = values.filter(Number.isFinite);
    const broken = values.length - finite.length;
    const range = `${formatValue(Math.min(...finite))} to ${formatValue(Math.max(...finite))}`;
    return [
      ...(finite.length > 0 ? [{ text: range, detail: `${finite.length} members`, isWrong: false }] : []),
      ...(broken > 0 ? [{ text: 'NaN', detail: `${broken} of ${values.length}`, isWrong: true }] : []),
    ];
  }
  return [...Map.groupBy(members, ({ text }) => text).values()]
    .toSorted((a, b) => b.length - a.length)
    .map((same) => ({ text: same[0].text, detail: `${same.length} of ${members.length}`, isWrong: same[0].isWrong }));
}
