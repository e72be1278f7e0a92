import { partsOf, Tokenizer, type TokenizerData } from '../../../core/tokens/tokenizer.ts';

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
 * Learns a vocabulary from the *training* texts: the most frequent words or characters (of equally frequent ones, the
 * first in the order of code points), or byte-pair encoding (Sennrich, Haddow and Birch, 2016). Id 0 is padding, id 1
 * stands for everything unknown.
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

interface Word {
  symbols: number[];
  readonly count: number;
}

/** More tokens than a vocabulary can hold; pairs are stored as one number. */
const most = 2 ** 24;

/** What byte-pair encoding learnt: the tokens, and the pairs in the order in which they were joined. */
interface LearntPairs {
  tokens: string[];
  merges: [string, string][];
}

/**
 * Learns byte-pair encoding (Sennrich, Haddow and Birch, 2016): starts with all characters, in the order of their code
 * points, and joins the most frequent pair of neighbours until there are `size` tokens or no pairs. Of equally frequent
 * pairs, the one of the older tokens comes first.
 * @param counts the words with their frequency
 * @param tokens the first tokens, before the characters
 */
function learnPairs(counts: ReadonlyMap<string, number>, size: number, tokens: readonly string[]): LearntPairs {
  const characters = new Set([...counts.keys()].flatMap((word) => Array.from(word)));
  const learnt: LearntPairs = { tokens: [...tokens, ...[...characters].toSorted(compareCodePoints)], merges: [] };
  const ids = new Map(learnt.tokens.map((token, id) => [token, id]));
  const words = [...counts].map(([word, count]): Word => ({
    symbols: Array.from(word, (character) => ids.get(character) ?? 0),
    count,
  }));
  const pairs = new PairCounts(words);
  while (learnt.tokens.length < size) {
    const best = pairs.mostFrequent();
    if (best === null) break;
    const [first, second] = best.map((id) => learnt.tokens[id]);
    const token = first + second;
    const id = ids.get(token) ?? learnt.tokens.push(token) - 1;
    ids.set(token, id);
    learnt.merges.push([first, second]);
    pairs.join(best, id);
  }
  return learnt;
}

/** How often each pair of neighbours occurs, and in which words. */
class PairCounts {
  readonly #words: readonly Word[];
  readonly #counts = new Map<number, number>();
  readonly #places = new Map<number, Set<number>>();

  constructor(words: readonly Word[]) {
    this.#words = words;
    for (const index of words.keys()) this.#count(index, 1);
  }

  mostFrequent(): [number, number] | null {
    let [best, highest] = [-1, 0];
    for (const [pair, count] of this.#counts) {
      if (count > highest || (count === highest && count > 0 && pair < best)) [best, highest] = [pair, count];
    }
    return best < 0 ? null : [Math.floor(best / most), best % most];
  }

  /** Replaces a pair by one token in all words. */
  join([first, second]: readonly [number, number], token: number): void {
    for (const index of Array.from(this.#places.get(first * most + second) ?? [])) {
      const word = this.#words[index];
      this.#count(index, -1);
      const symbols: number[] = [];
      for (let i = 0; i < word.symbols.length; i++) {
        const isPair = word.symbols[i] === first && word.symbols[i + 1] === second;
        symbols.push(isPair ? token : word.symbols[i]);
        if (isPair) i++;
      }
      word.symbols = symbols;
      this.#count(index, 1);
    }
  }

  #count(index: number, sign: 1 | -1): void {
    const { symbols, count } = this.#words[index];
    for (let i = 0; i + 1 < symbols.length; i++) {
      const pair = symbols[i] * most + symbols[i + 1];
      this.#counts.set(pair, (this.#counts.get(pair) ?? 0) + sign * count);
      const places = this.#places.get(pair) ?? new Set();
      if (sign === 1) places.add(index);
      else places.delete(index);
      this.#places.set(pair, places);
    }
  }
}

/** The order of code points, which is also that of UTF-8; JavaScript's own order differs beyond U+FFFF. */
function compareCodePoints(a: string, b: string): number {
  const [first, second] = [Array.from(a), Array.from(b)];
  for (let i = 0; i < Math.min(first.length, second.length); i++) {
    const difference = (first[i].codePointAt(0) ?? 0) - (second[i].codePointAt(0) ?? 0);
    if (difference !== 0) return difference;
  }
  return first.length - second.length;
}
