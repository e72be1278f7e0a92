import { formatCount } from '../text/numbers.ts';
import { quoted } from './column-findings.ts';
import { areEqual, rowHashes } from './equal-rows.ts';
import type { Finding, ProfiledColumn, SplitProfile } from './profile.ts';
import { hasValue } from './time-columns.ts';

/** A column of a table that names the split of each row. */

const mostExamples = 5;
const mostPlaces = 3;

/** The split of each row, null where the column names none (shape `[N]`), and how many rows each split has. */
export function readSplits(column: ProfiledColumn): { profile: SplitProfile; splits: (SplitName | null)[] } {
  const { name, values } = column;
  const known = new Map<string, SplitName | null>();
  const profile = { name, train: 0, validation: 0, test: 0, other: 0, missing: 0 };
  const splits = Array.from({ length: values.length }, (_, row): SplitName | null => {
    if (!hasValue(column, row)) {
      profile.missing++;
      return null;
    }
    const text = String(values[row]);
    const split = known.has(text) ? (known.get(text) ?? null) : splitOf(text);
    known.set(text, split);
    profile[split ?? 'other']++;
    return split;
  });
  const examples = [...known].flatMap(([text, split]) => (split === null ? [text] : []));
  return { profile: { ...profile, examples: examples.slice(0, mostExamples) }, splits };
}

/** Whether all values of a column are names of splits, the training and the test split among them. */
export function namesSplits(column: ProfiledColumn): boolean {
  return !(column.values instanceof Float64Array) && whyNoSplits(readSplits(column).profile) === null;
}

/** Whether the values of a column are the usual names of two splits or more, each of another one. */
export function namesSplitsOfImages({ values }: Pick<ProfiledColumn, 'values'>): boolean {
  const splits = values instanceof Float64Array ? [] : [...new Set(values)].map((own) => own && splitOf(own));
  return (
    splits.length > 1 && splits.includes('train') && new Set(splits).size === splits.length && !splits.includes(null)
  );
}

/** Why a column cannot say the splits, with what to do; null: it can. */
export function whyNoSplits({ name, other, examples, missing, ...counts }: SplitProfile): string | null {
  const shown = JSON.stringify(name);
  if (other > 0) {
    const values = examples.map((text) => JSON.stringify(text)).join(', ');
    return (
      `${shown} is to name the split of each row, but ${rowsText(other)} ${other === 1 ? 'has' : 'have'} another ` +
      `value: ${values}${examples.length === mostExamples ? ', ...' : ''}. Names of splits are ${Object.keys(usualSplitNames).join(', ')}, in ` +
      'capital letters too. Rename these values, or split the rows by something else.'
    );
  }
  if (missing > 0) {
    return (
      `${shown} is to name the split of each row, but ${rowsText(missing)} ${missing === 1 ? 'has' : 'have'} no ` +
      'value there. Fill in the name of a split, leave out such rows, or split the rows by something else.'
    );
  }
  const absent = (['train', 'test'] as const).find((split) => counts[split] === 0);
  if (absent === undefined) return null;
  const found = splitNames.flatMap((split) => (counts[split] === 0 ? [] : [`${split} ${formatCount(counts[split])}`]));
  return (
    `${shown} is to name the split of each row, but no row is in the ${absent} split (${found.join(', ')}): rows for ` +
    'training and for the test are needed. Name some rows so, or split the rows by something else.'
  );
}

/** What a person should know of the column: its splits, or why it names none, and rows that several splits have. */
export function splitFindings(
  { profile, splits }: ReturnType<typeof readSplits>,
  compared: readonly Pick<ProfiledColumn, 'values'>[],
): Finding[] {
  const { name } = profile;
  const about = { column: name, choices: null };
  const why = whyNoSplits(profile);
  if (why !== null) return [{ ...about, level: 'warning', kind: 'splits', message: why, option: null }];
  const message = `${JSON.stringify(name)} names the split of each row: ${splitCountsText(profile)}.`;
  const shared = sharedRowsText(compared, splits);
  return [
    { ...about, level: 'note', kind: 'splits', message, option: `split: ${quoted(name)}` },
    ...(shared === null
      ? []
      : [{ ...about, level: 'warning' as const, kind: 'shared-rows' as const, message: shared, option: null }]),
  ];
}

/** `80 rows train, 10 validate, 20 test` */
export function splitCountsText({ train, validation, test }: Pick<SplitProfile, SplitName>): string {
  const validates = validation === 0 ? '' : `${formatCount(validation)} validate, `;
  return `${rowsText(train)} train, ${validates}${formatCount(test)} test`;
}

/**
 * Says which rows of the validation and the test split equal a row of a split before it (training, validation, test);
 * null: none does.
 * @param compared the columns of the features and targets
 * @param splits of each row; rows without one do not count
 * @param numbers of the rows in their table, from 0
 */
export function sharedRowsText(
  compared: readonly Pick<ProfiledColumn, 'values'>[],
  splits: readonly (SplitName | null)[],
  numbers?: Int32Array,
): string | null {
  const place = (row: number): string => `row ${(numbers?.[row] ?? row) + 1} (${splits[row]})`;
  const hashes = rowHashes(compared, splits.length);
  const first = new Map<number, number>();
  const counts = { train: 0, validation: 0, test: 0 };
  const places: string[] = [];
  for (const split of splitNames) {
    for (const [row, own] of splits.entries()) {
      if (own !== split) continue;
      const other = first.get(hashes[row]);
      if (other === undefined) first.set(hashes[row], row);
      else if (splits[other] !== split && areEqual(compared, other, row)) {
        counts[split]++;
        if (places.length < mostPlaces) places.push(`${place(row)} and ${place(other)}`);
      }
    }
  }
  const { validation, test } = counts;
  if (validation === 0 && test === 0) return null;
  const parts = (['validation', 'test'] as const).flatMap((split) =>
    counts[split] === 0 ? [] : [`${rowsText(counts[split])} of the ${split} split`],
  );
  const count = validation + test;
  return (
    `${parts.join(' and ')} ${count === 1 ? 'is' : 'are'} in another split too, with the same features and target` +
    `${count > mostPlaces ? ', such as' : ':'} ${places.join(', ')}. What a model has learned by heart looks better ` +
    'there than it is: leave such rows out of one of the splits.'
  );
}

const rowsText = (count: number): string => (count === 1 ? '1 row' : `${formatCount(count)} rows`);

/** The splits of data, and the names that people give them: of folders, and of values of a column. */

export const splitNames = ['train', 'validation', 'test'] as const;
export type SplitName = (typeof splitNames)[number];
export const splitTitles: Readonly<Record<SplitName, string>> = {
  train: 'Training',
  validation: 'Validation',
  test: 'Test',
};
/** What a folder or a value may be; `none`: a class, or beside splits what is left out. */
export const splitAnswers = [...splitNames, 'none'] as const;
export type SplitAnswer = (typeof splitAnswers)[number];

/** The usual names of splits, in small letters. */
export const usualSplitNames: Readonly<Record<string, SplitName>> = {
  train: 'train',
  training: 'train',
  tr: 'train',
  validation: 'validation',
  valid: 'validation',
  val: 'validation',
  dev: 'validation',
  test: 'test',
  testing: 'test',
  holdout: 'test',
};
/**
 * The split that a name means: `Training`, `test_set`, `val-images`; null: it means none.
 * @param takesLastWord whether it may be `seg_train` too; a class of images may have such a name
 */
export function splitOf(name: string, takesLastWord = false): SplitName | null {
  const lower = name.toLowerCase();
  const word = lower.replaceAll(/[^a-z]/g, '');
  const last = takesLastWord ? (lower.split(/[^a-z]+/).at(-1) ?? '') : '';
  for (const own of [word, word.replace(/(set|data|images|split)$/, ''), last]) {
    if (Object.hasOwn(usualSplitNames, own)) return usualSplitNames[own];
  }
  return null;
}
