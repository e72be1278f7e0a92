import { parseParameter } from './parse.ts';
import type { Assignment } from './space.ts';

/**
 * The splits of the data on which each trial trains, as options by path: `5` are the folds of a cross-validation, `split=0,1,2` the values of an option.
 * @throws Error with the remedy
 */
export function parseSplits(text: string): Assignment[] {
  if (/^[1-9]\d{0,3}$/.test(text)) {
    const folds = Number(text);
    return Array.from({ length: folds }, (_, fold) => ({ 'data.folds': folds, 'data.fold': fold }));
  }
  const [, path, list] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  if (path === undefined) {
    throw new Error(
      `"${text}" are no splits: give a number of folds, such as 5, or the values of an option, such as split=0,1,2.`,
    );
  }
  const { parameter } = parseParameter(`${path}=choice(${list})`);
  return parameter.kind === 'choice' ? parameter.choices.map((value) => ({ [path]: value })) : [];
}
