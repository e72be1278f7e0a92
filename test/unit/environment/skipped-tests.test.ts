import { describe, expect, it } from 'vitest';
import { countInElectron, judgeSkipped } from '../../environment/skipped-tests.ts';

const skip = (name: string, note = '') => ({ name, note });
const allowed = [
  { reason: 'no Electron', most: 2 },
  { reason: 'root', most: 1 },
];

describe('judgeSkipped', () => {
  it('allows as many tests for a reason as are listed, in names and in notes', () => {
    const skipped = [skip('a (not run: no Electron)'), skip('b', 'no Electron here'), skip('c (not run: root)')];
    expect(judgeSkipped(skipped, allowed)).toEqual([]);
    expect(judgeSkipped([], allowed)).toEqual([]);
  });

  it('names a reason that skips more tests', () => {
    expect(judgeSkipped([skip('a', 'root'), skip('b', 'root')], allowed)).toEqual([
      '2 tests did not run because "root"; at most 1 may.',
    ]);
  });

  it('names each test with a reason that is not listed, or with none', () => {
    expect(judgeSkipped([skip('a', 'no GPU'), skip('b'), skip('c', 'root')], allowed)).toEqual([
      'It must run, or test/environment/allowed-skips.json must say why not: a (not run: no GPU)',
      'It must run, or test/environment/allowed-skips.json must say why not: b',
    ]);
  });

  it('does not count tests that lack something that the machine cannot provide', () => {
    const skipped = [skip('a (not run: WebGPU is not set up)'), skip('b (not run: WebGPU is not set up)'), skip('c')];
    expect(judgeSkipped(skipped, allowed, ['WebGPU'])).toHaveLength(1);
  });
});

it('counts the tests of the desktop app', () => {
  expect(countInElectron(['passed', 'passed', 'failed', 'skipped'])).toBe(
    'Tests in a real Electron: 3 ran, 2 passed, 1 failed, 1 did not run',
  );
});
