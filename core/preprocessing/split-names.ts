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
