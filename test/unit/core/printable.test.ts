import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { printable, printableLine } from '../../../core/text/printable.ts';

describe('printable text', () => {
  it.each([
    ['a title of the terminal (OSC)', '\u001B]0;owned\u0007', '\\u001b]0;owned\\u0007'],
    ['an erased screen (CSI)', '\u001B[2J\u001B[H', '\\u001b[2J\\u001b[H'],
    ['the one-byte CSI of C1', '\u009B31m', '\\u009b31m'],
    ['an overwritten line', 'failed\rfinished', 'failed\\u000dfinished'],
    ['backspaces', 'rm\b\bls', 'rm\\u0008\\u0008ls'],
    ['a reversed direction', 'exe\u202Etxt\u202C', 'exe\\u202etxt\\u202c'],
    ['an isolate', '\u2066a\u2069', '\\u2066a\\u2069'],
    ['DEL', 'a\u007F', 'a\\u007f'],
  ])('shows %s', (_what, text, shown) => {
    expect(printable(text)).toBe(shown);
  });

  it.each(['plain', 'x·sin(x) – “quoted”', 'tab\tand\nlines\n', '日本語', '👩‍🔬', 'e\u0301', 'العربية'])(
    'leaves text as it is: %j',
    (text) => {
      expect(printable(text)).toBe(text);
    },
  );

  it('keeps the meaning of JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string({ unit: 'binary' }), (value, text) => {
        const line = JSON.stringify({ value, text });
        expect(JSON.parse(printable(line))).toEqual(JSON.parse(line));
      }),
      { seed: 3, numRuns: 500 },
    );
  });

  it('holds no character of Unicode category Cc but tab and line feed', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 50 }), (text) => {
        expect(printable(text).replaceAll(/[\t\n]/g, '')).not.toMatch(/\p{Cc}/u);
        expect(printableLine(text)).not.toMatch(/\p{Cc}/u);
      }),
      { seed: 5, numRuns: 2000 },
    );
  });
});
