import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Tokenizer, tokenizerSchema } from '../../../core/tokens/tokenizer.ts';
import { fitTokenizer } from '../../../workers/data/text/fit-tokenizer.ts';
import { textDataset } from '../../../workers/data/text/text-dataset.ts';

const recordedSchema = z.object({
  train: z.array(z.string()),
  encode: z.array(z.string()),
  cases: z.array(
    z.object({
      kind: z.enum(['word', 'character', 'bpe']),
      size: z.number(),
      tokens: z.array(z.string()),
      merges: z.array(z.tuple([z.string(), z.string()])),
      ids: z.array(z.array(z.number())),
    }),
  ),
});
const recordedFile = new URL('../../golden/tokenizers/tokenizers.json', import.meta.url);
const recorded = recordedSchema.parse(JSON.parse(readFileSync(recordedFile, 'utf8')));

describe.each(recorded.cases)(
  'a tokenizer of kind $kind with at most $size tokens',
  ({ kind, size, tokens, merges, ids }) => {
    const tokenizer = fitTokenizer(recorded.train, { kind, size });

    it('learns what Hugging Face’s learns', () => {
      expect(tokenizer.data).toEqual({ kind, lowercase: true, tokens, merges });
      expect(tokenizer.size).toBe(tokens.length);
    });

    it('encodes as Hugging Face’s does, also after it was kept in a file', () => {
      const kept = new Tokenizer(tokenizerSchema.parse(JSON.parse(JSON.stringify(tokenizer.data))));
      for (const [i, text] of recorded.encode.entries()) {
        expect(tokenizer.encode(text), text).toEqual(ids[i]);
        expect(kept.encode(text), text).toEqual(ids[i]);
      }
    });
  },
);

describe('a tokenizer', () => {
  it('keeps case if asked, and decodes', () => {
    const tokenizer = fitTokenizer(['Ab ab'], { lowercase: false });
    expect(tokenizer.data.tokens).toEqual(['<pad>', '<unk>', 'Ab', 'ab']);
    expect(tokenizer.encode('ab Ab AB')).toEqual([3, 2, 1]);
    expect(tokenizer.decode([3, 2, 0, 0])).toBe('ab Ab');
    expect(fitTokenizer(['abc'], { kind: 'character' }).decode([2, 4, 0])).toBe('ac');
  });

  it('refuses a vocabulary without room, and texts without tokens', () => {
    expect(() => fitTokenizer(['a'], { size: 2 })).toThrow(/2 tokens has no room beside padding and unknown/);
    expect(() => fitTokenizer(['  '])).toThrow(/no tokens/);
  });
});

describe('textDataset', () => {
  const tokenizer = fitTokenizer(['a b c']);
  const options = { name: 'texts', tokenizer, targets: Int32Array.of(0, 1), classNames: ['no', 'yes'] };

  it('cuts long texts and pads short ones', () => {
    const end = textDataset({ ...options, texts: ['a', 'c b a z'], length: 3 });
    expect([...end.features]).toEqual([2, 0, 0, 4, 3, 2]);
    expect(end).toMatchObject({ featureShape: [3], length: 2, classCount: 2 });
    const start = textDataset({ ...options, texts: ['a', 'z'], length: 2, padding: 'start' });
    expect([...start.features]).toEqual([0, 2, 0, 1]);
  });

  it('refuses an impossible length', () => {
    expect(() => textDataset({ ...options, texts: ['a', 'b'], length: 0 })).toThrow(/length of 0 tokens/);
  });
});
