import { partsOf, Tokenizer, type TokenizerData } from '../../../core/tokens/tokenizer.ts';
import { compareCodePoints } from './code-points.ts';
import { learnPairs } from './learn-pairs.ts';

/** How {@link fitTokenizer} divides texts into tokens. */
export interface TokenizerOptions {
  /** Words and marks (default), characters, or parts of words by byte-pair encoding. */
  kind?: TokenizerData['kind'];
  /** The most tokens, with padding and unknown; 10,000 by default. */
  size?: number;
  /** Whether letters lose their case first; true by default. */
  lowercase?: boolean;
}

/** Tokens that every vocabulary begins with. */
const special = ['<pad>', '<unk>'];

/**
 * Learns a vocabulary from the *training* texts: the most frequent words or characters (of equally frequent ones, the first in the order of code points),
 * or byte-pair encoding (Sennrich, Haddow and Birch, 2016). Id 0 is padding, id 1 stands for everything unknown.
 * @throws RangeError if the size leaves no room for tokens, or the texts have none
 */
export function fitTokenizer(texts: Iterable<string>, options: TokenizerOptions = {}): Tokenizer {
  const { kind = 'word', size = 10_000, lowercase = true } = options;
  if (!Number.isInteger(size) || size <= special.length) {
    throw new RangeError(`A vocabulary of ${size} tokens has no room beside padding and unknown: give a size above 2.`);
  }
  const counts = new Map<string, number>();
  for (const text of texts) {
    for (const part of partsOf(text, { kind, lowercase })) counts.set(part, (counts.get(part) ?? 0) + 1);
  }
  if (counts.size === 0) throw new RangeError('The training texts have no tokens: are they empty?');
  if (kind === 'bpe') return new Tokenizer({ kind, lowercase, ...learnPairs(counts, size, special) });
  const byFrequency = [...counts].toSorted(([a, m], [b, n]) => n - m || compareCodePoints(a, b));
  const tokens = [...special, ...byFrequency.slice(0, size - special.length).map(([token]) => token)];
  return new Tokenizer({ kind, lowercase, tokens, merges: [] });
}
