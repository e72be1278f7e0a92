import { z } from 'zod';

/**
 * Ids that every tokenizer has: what fills short texts up, and what stands for a token that the training texts did not
 * have.
 */
export const paddingId = 0;
const unknownId = 1;

export const tokenizerSchema = z.strictObject({
  /** Tokens are words and marks, characters, or parts of words that byte-pair encoding found. */
  kind: z.enum(['word', 'character', 'bpe']),
  lowercase: z.boolean(),
  /** Token i has id i; 0 is padding, 1 is unknown. */
  tokens: z.array(z.string()).min(2),
  /** The pairs of tokens in the order in which `bpe` joins them. */
  merges: z.array(z.tuple([z.string(), z.string()])),
});
/** What a tokenizer learnt from the training texts; plain data that a run keeps. */
export type TokenizerData = z.output<typeof tokenizerSchema>;

/** Turns texts into ids of tokens and back. */
export class Tokenizer {
  readonly data: TokenizerData;
  readonly #ids: ReadonlyMap<string, number>;
  readonly #ranks: ReadonlyMap<string, number>;
  readonly #ofWord = new Map<string, readonly number[]>();

  constructor(data: TokenizerData) {
    this.data = data;
    this.#ids = new Map(data.tokens.map((token, id) => [token, id]));
    this.#ranks = new Map(data.merges.map(([first, second], rank) => [`${first} ${second}`, rank]));
  }

  /** The number of tokens, with padding and unknown: an embedding's `inputDim`. */
  get size(): number {
    return this.data.tokens.length;
  }

  /** The ids of a text's tokens. */
  encode(text: string): number[] {
    return partsOf(text, this.data).flatMap((part) => this.#idsOf(part));
  }

  /** The tokens of ids; padding is left out. Words are joined by spaces, characters and parts of words by nothing. */
  decode(ids: Iterable<number>): string {
    const tokens = Array.from(ids, (id) => (id === paddingId ? '' : (this.data.tokens[id] ?? '')));
    return tokens.filter((token) => token !== '').join(this.data.kind === 'word' ? ' ' : '');
  }

  #idsOf(part: string): readonly number[] {
    if (this.data.kind !== 'bpe') return [this.#ids.get(part) ?? unknownId];
    const known = this.#ofWord.get(part);
    if (known !== undefined) return known;
    const tokens = mergePairs(Array.from(part), (first, second) => this.#ranks.get(`${first} ${second}`));
    const ids = tokens.map((token) => this.#ids.get(token) ?? unknownId);
    this.#ofWord.set(part, ids);
    return ids;
  }
}

/**
 * Letters, digits and what joins them, or a run of other marks: the rule `\w+|[^\w\s]+` of the usual tokenizers. Its
 * white space is Unicode's: U+0085 is such and U+FEFF is not, while JavaScript's `\s` has it the other way round.
 */
const words =
  /[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\u200c\u200d]+|[^\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\u200c\u200d\p{White_Space}]+/gu;

/** The parts of a text that are counted and looked up: words and marks, or characters. */
export function partsOf(text: string, { kind, lowercase }: Pick<TokenizerData, 'kind' | 'lowercase'>): string[] {
  const cased = lowercase ? text.toLowerCase() : text;
  return kind === 'character' ? Array.from(cased) : (cased.match(words) ?? []);
}

/**
 * Byte-pair encoding of a word (Sennrich, Haddow and Birch, 2016): joins the neighbours that were joined first in
 * training, from left to right, until no pair is known.
 * @param rankOf the place of a pair among the learnt ones; undefined: not learnt
 */
function mergePairs(
  symbols: readonly string[],
  rankOf: (first: string, second: string) => number | undefined,
): string[] {
  let parts = [...symbols];
  for (;;) {
    let best = Infinity;
    for (let i = 0; i + 1 < parts.length; i++) best = Math.min(best, rankOf(parts[i], parts[i + 1]) ?? Infinity);
    if (best === Infinity) return parts;
    parts = joined(parts, (first, second) => rankOf(first, second) === best);
  }
}

/** Joins all neighbours that `isPair` names, from left to right. */
function joined(parts: readonly string[], isPair: (first: string, second: string) => boolean): string[] {
  const result: string[] = [];
  for (let i = 0; i < parts.length; i++) {
    if (i + 1 < parts.length && isPair(parts[i], parts[i + 1])) result.push(parts[i] + parts[++i]);
    else result.push(parts[i]);
  }
  return result;
}
