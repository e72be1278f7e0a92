import { describe, expect, test } from 'vitest';
import { findSites, mutate } from '../../mutation/sites.ts';

/** Every text that a single change can make of a source. */
function mutantsOf(text: string): string[] {
  return findSites('source.ts', text).flatMap((site) =>
    site.replacements.map((replacement) => mutate(text, site, replacement)),
  );
}

describe('sites of mutation', () => {
  test.each([
    ['a + b;', ['a - b;']],
    ['a += b * c;', ['a -= b * c;', 'a += b / c;']],
    ['a < b;', ['a <= b;', 'a >= b;']],
    ['a === b && c;', ['a !== b && c;', 'a === b || c;']],
    ['f(!a, -b);', ['f(a, -b);', 'f(!a, b);']],
    ['i++; --j;', ['i--; --j;', 'i++; ++j;']],
    ['x = [0, 1, 2];', ['x = [1, 1, 2];', 'x = [0, 0, 2];', 'x = [0, 2, 2];']],
    ['x[i] = y["key"];', ['x[(i) + 1] = y["key"];']],
    ['x = c ? a : b;', ['x = !(c) ? a : b;']],
    ['Math.min(a, b);', ['Math.max(a, b);']],
    ['if (c) { f(); return; }', ['if (false) { f(); return; }']],
  ])('%s', (text, expected) => {
    expect(mutantsOf(text)).toEqual(expected);
  });

  test('do not include texts, types and imports', () => {
    expect(mutantsOf("const x: Pair[1] = 'a' + b + `c`; import { y } from './y.ts';")).toEqual([]);
  });

  test('do not include an if with an else, or without an exit at its end', () => {
    expect(mutantsOf('if (c) return; else f();')).toEqual([]);
    expect(mutantsOf('if (c) f();')).toEqual([]);
  });

  test('never include arguments that select a process to kill or a path to remove', () => {
    expect(mutantsOf('process.kill(-pid, 0); await rm(folders[0 + i]);')).toEqual([]);
  });

  test('have line numbers that start at 1', () => {
    expect(findSites('source.ts', '\n\n  a + b;')).toMatchObject([{ line: 3, original: '+', start: 6, end: 7 }]);
  });
});
