import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nameOfCell, withoutFormula } from '../../../core/text/printable.ts';

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

describe('the name of a cell', () => {
  const namesIn =
    (...names: string[]) =>
    (text: string) =>
      names.includes(text);

  it('is what was written, whatever the name', () => {
    const name = fc.oneof(fc.string(), fc.constantFrom('+', '-', '=x', '@y', '=a,b', '\t1'));
    fc.assert(
      fc.property(name, (own) => {
        expect(nameOfCell(withoutFormula(own), namesIn(own))).toBe(own);
      }),
      { seed: 1, numRuns: 2000 },
    );
  });

  it('has an apostrophe where a name has, or where none is meant', () => {
    expect(nameOfCell("'=x", namesIn("'=x", '=x'))).toBe("'=x");
    expect(nameOfCell("'=x", namesIn('y'))).toBe("'=x");
    expect(nameOfCell("'a", namesIn('a'))).toBe("'a");
    expect(nameOfCell("'+", namesIn('+'))).toBe("'+");
  });
});
