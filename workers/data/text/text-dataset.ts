import { paddingId, type Tokenizer } from '../../../core/tokens/tokenizer.ts';
import { createDataset, type Dataset } from '../dataset.ts';

/** Texts with their targets. */
export interface TextOptions {
  name: string;
  texts: readonly string[];
  /** A class label each, or values; see `Dataset`. */
  targets: Dataset['targets'];
  targetShape?: readonly number[];
  classNames?: readonly string[];
  tokenizer: Tokenizer;
  /** The number of tokens of every sample: longer texts lose their end, shorter ones are padded with id 0. */
  length: number;
  /**
   * Where short texts are padded; at the end by default. A recurrent layer without a mask reads them better padded at
   * the start.
   */
  padding?: 'start' | 'end';
}

/**
 * A data set of texts as ids of tokens, `[N, length]`, for a model that begins with an embedding of `tokenizer.size`
 * tokens.
 */
export function textDataset({ texts, tokenizer, length, padding = 'end', ...others }: TextOptions): Dataset {
  if (!Number.isInteger(length) || length < 1) {
    throw new RangeError(
      `Data set "${others.name}": a length of ${length} tokens is not possible. Give a whole number.`,
    );
  }
  const features = new Float32Array(texts.length * length).fill(paddingId);
  for (const [i, text] of texts.entries()) {
    const ids = tokenizer.encode(text).slice(0, length);
    features.set(ids, i * length + (padding === 'start' ? length - ids.length : 0));
  }
  return createDataset({ ...others, tokenizer, features, featureShape: [length] });
}
