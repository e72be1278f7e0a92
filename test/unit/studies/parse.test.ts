import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseParameter } from '../../../core/studies/space/parse.ts';

describe('parseParameter', () => {
  it.each([
    ['weightDecay=log(1e-5,30)', 'weightDecay', { kind: 'log', low: 1e-5, high: 30 }],
    [' dropout = step(0, 0.5, 0.1) ', 'dropout', { kind: 'step', low: 0, high: 0.5, step: 0.1 }],
    ['layers=int(1,4)', 'layers', { kind: 'int', low: 1, high: 4 }],
    ['units=int(16,256,16)', 'units', { kind: 'int', low: 16, high: 256, step: 16 }],
    ['units=log-int(16,256)', 'units', { kind: 'log-int', low: 16, high: 256 }],
    ['activation=choice(relu, tanh)', 'activation', { kind: 'choice', choices: ['relu', 'tanh'] }],
    ['x=choice(true,2,"2","a,b","say \\"no\\"")', 'x', { kind: 'choice', choices: [true, 2, '2', 'a,b', 'say "no"'] }],
    [
      'momentum=float(0,0.99) when optimizer.kind=sgd,rmsprop',
      'momentum',
      { kind: 'float', low: 0, high: 0.99, when: { path: 'optimizer.kind', equals: ['sgd', 'rmsprop'] } },
    ],
  ])('reads %s', (text, path, parameter) => expect(parseParameter(text)).toEqual({ path, parameter }));

  it.each([
    ['weightDecay', 'write the option, an equals sign and its values'],
    ['rate=uniform(0,1)', 'there is no kind uniform. Write one of float(0,0.5)'],
    ['rate=log(1)', 'log takes 2 numbers, not 1. Write log(1e-5,30)'],
    ['rate=step(1,2)', 'step takes 3 numbers, not 2'],
    ['rate=float(a,b)', 'Write float(0,0.5)'],
    ['rate=float(0,,1)', 'write values with commas between them'],
    ['layers=int(1,2.5)', 'Write int(1,8)'],
    ['x=choice()', 'write values with commas between them'],
    ['x=choice("a)', 'text that has commas in double quotes'],
  ])('refuses %s', (text, message) => expect(() => parseParameter(text)).toThrow(message));

  it('reads or refuses any text with its own error', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.string().map((inside) => `a=choice(${inside})`),
        ),
        (text) => {
          let failure: unknown;
          try {
            parseParameter(text);
          } catch (error) {
            failure = error;
          }
          expect(failure === undefined || (failure instanceof Error && failure.constructor === Error)).toBe(true);
        },
      ),
      { seed: 15 },
    );
  });
});
