import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withoutFormula } from '../../../core/text/printable.ts';

describe('a cell of a CSV file', () => {
  // The characters of OWASP's "CSV Injection", and their full-width forms.
  it.each([
    '=1+1',
    '+1+1',
    '-1+1',
    '@SUM(A1)',
    '\t=1',
    '\r=1',
    ' =1',
    '＝1+1',
    '＋1+1',
    '－1+1',
    '＠x',
    '=',
    "+cmd|' /C calc'!A0",
    '-SUM(A1)',
    '+A1*2',
    '-=1',
    '+@x',
    '-Infinity!',
  ])('that begins a formula is text: %j', (cell) => {
    expect(withoutFormula(cell)).toBe(`'${cell}`);
  });

  it('that is quoted gets the apostrophe inside of the quotes', () => {
    expect(withoutFormula('"=1,2"')).toBe(`"'=1,2"`);
  });

  it.each([
    '',
    'val/ens_nll',
    'a=b',
    "'=1",
    '0',
    '-0',
    '-0.5',
    '+3',
    '-1e-7',
    '.5',
    '-.5',
    '1.',
    'NaN',
    'Infinity',
    '-Infinity',
    '+',
    '-',
    '--',
    '+/-',
    '-ve',
    '+5 mg',
    '-10 to 0',
    '-ähnlich',
  ])('that is none stays: %j', (cell) => {
    expect(withoutFormula(cell)).toBe(cell);
  });

  it('that is a number stays, whatever the number', () => {
    fc.assert(
      fc.property(fc.double(), (value) => {
        expect(withoutFormula(String(value))).toBe(String(value));
      }),
      { seed: 1, numRuns: 2000 },
    );
  });
});
