import { readFileSync } from 'node:fs';
import { createDataset } from 'tutti-ensembles';

export const classNames = ['negative', 'positive'];
/** Words of a sample; longer texts are cut, shorter ones padded with 0. */
export const length = 12;
/** Number 1 stands for words that are not in the vocabulary. */
const unknown = 1;

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? [];

/** The most frequent words of the texts, from number 2 on. */
export function vocabularyOf(texts: readonly string[], size: number): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const word of texts.flatMap(wordsOf)) counts.set(word, (counts.get(word) ?? 0) + 1);
  const frequent = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).slice(0, size - 2);
  return new Map(frequent.map(([word], i) => [word, i + 2]));
}

/** Reads lines of a label, a tabulator and a text. */
export function readTexts(file: string): { texts: string[]; labels: number[] } {
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  const pairs = lines.map((line) => line.split('\t'));
  const labels = pairs.map(([name], i) => {
    const label = classNames.indexOf(name);
    if (label === -1) throw new Error(`${file}, line ${i + 1}: "${name}" is none of ${classNames.join(', ')}.`);
    return label;
  });
  return { texts: pairs.map(([, text = '']) => text), labels };
}

/** A data set of word numbers, `[N, length]`. */
export function encode(texts: readonly string[], labels: readonly number[], vocabulary: ReadonlyMap<string, number>) {
  const features = new Float32Array(texts.length * length);
  for (const [i, text] of texts.entries()) {
    const numbers = wordsOf(text).map((word) => vocabulary.get(word) ?? unknown);
    features.set(numbers.slice(0, length), i * length);
  }
  return createDataset({
    name: 'texts',
    featureShape: [length],
    features,
    targets: Int32Array.from(labels),
    classNames,
  });
}
