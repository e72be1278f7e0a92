import { z } from 'zod';
import { mergePairs } from './merge-pairs.ts';

/** Ids that every tokenizer has: what fills short texts up, and what stands for a token that the training texts did not have. */
export const paddingId = 0;
export const unknownId = 1;

export const tokenizerSchema = z.strictObject({
  /** Tokens are words and marks, characters, or parts of words that byte-pair encoding found. */
  kind: z.enum(['word', 'character', 'bpe']),
  lowercase: z.boolean(),
  /** Token i has id i; 0 is padding, 1 is unknown. */
  tokens: z.array(z.string()).min(2),
  /** For `bpe`: pairs of tokens in the order in which they are joined. */
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
 * Letters, digits and what joins them, or a run of other marks: the rule `\w+|[^\w\s]+` of the usual tokenizers. Its white space is Unicode's: U+0085 is
 * such and U+FEFF is not, while JavaScript's `\s` has it the other way round.
 */
const words =
  /[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\u200c\u200d]+|[^\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\u200c\u200d\p{White_Space}]+/gu;

/** The parts of a text that are counted and looked up: words and marks, or characters. */
export function partsOf(text: string, { kind, lowercase }: Pick<TokenizerData, 'kind' | 'lowercase'>): string[] {
  const cased = lowercase ? text.toLowerCase() : text;
  return kind === 'character' ? Array.from(cased) : (cased.match(words) ?? []);
}
