import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Parameter } from '../../../core/studies/space/domain.ts';
import { parseParameter, writeDomain } from '../../../core/studies/space/parse.ts';

describe('the text of a parameter', () => {
  it('is what the command line takes', () => {
    expect(writeDomain({ kind: 'log', low: 1e-5, high: 30 })).toBe('log(0.00001,30)');
    expect(writeDomain({ kind: 'int', low: 16, high: 256, step: 16 })).toBe('int(16,256,16)');
    expect(writeDomain({ kind: 'choice', choices: ['relu', 'a, b', '5', 5, true] })).toBe(
      'choice(relu,"a, b","5",5,true)',
    );
    const when = { path: 'optimizer.kind', equals: ['sgd', 'rmsprop'] };
    expect(writeDomain({ kind: 'float', low: 0, high: 0.99, when })).toBe(
      'float(0,0.99) when optimizer.kind=sgd,rmsprop',
    );
  });

  it('is read back as the same parameter', () => {
    const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
    const value = fc.oneof(fc.string(), fc.boolean(), number);
    const when = fc.record({ path: fc.constantFrom('a', 'b.c'), equals: fc.array(value, { minLength: 1 }) });
    const parameter = fc.oneof(
      fc.record({ kind: fc.constantFrom('float', 'log'), low: number, high: number }),
      fc.record({ kind: fc.constant('int'), low: fc.integer(), high: fc.integer(), step: fc.integer() }),
      fc.record({ kind: fc.constant('step'), low: number, high: number, step: number }),
      fc.record({ kind: fc.constant('choice'), choices: fc.array(value, { minLength: 1 }) }),
      fc.record({ kind: fc.constant('choice'), choices: fc.array(value, { minLength: 1 }), when }),
    ) as fc.Arbitrary<Parameter>;
    fc.assert(
      fc.property(parameter, (written) => {
        expect(parseParameter(`path=${writeDomain(written)}`)).toEqual({ path: 'path', parameter: written });
      }),
      { seed: 9, numRuns: 500 },
    );
  });
});
