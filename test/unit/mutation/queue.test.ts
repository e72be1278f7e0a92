import { describe, expect, test } from 'vitest';
import { areas } from '../../mutation/areas.ts';
import { type Mutant, orderMutants } from '../../mutation/draw.ts';
import { MutantQueue } from '../../mutation/mutant-queue.ts';
import type { MutantResult } from '../../mutation/report/report.ts';
import { findSites } from '../../mutation/sites.ts';

const sites = findSites('source.ts', 'a + b - c * d / e < f');
const mutants = (seed: number): Mutant[] => orderMutants(areas[0], sites, seed);

function judged({ name }: Mutant, outcome: MutantResult['outcome'] = 'noticed'): MutantResult {
  const change = { file: 'source.ts', line: 1, source: '', original: '', mutated: '' };
  return { name, area: areas[0].name, ...change, outcome, noticedBy: null, seconds: 0 };
}

describe('the order of mutants', () => {
  test('has each site once, and depends on its seed', () => {
    const starts = mutants(1).map(({ site }) => site.start);
    expect(starts.toSorted((a, b) => a - b)).toEqual(sites.map(({ start }) => start));
    expect(mutants(1)).toEqual(mutants(1));
    expect(mutants(1)).not.toEqual(mutants(2));
  });

  test('stays the same for other mutants when a line is added', () => {
    const more = findSites('source.ts', 'x + y;\na + b - c * d / e < f');
    const own = orderMutants(areas[0], more, 1).filter(({ site }) => site.line === 2);
    expect(own.map(({ name }) => name)).toEqual(mutants(1).map(({ name }) => name));
  });
});

describe('the queue of an area', () => {
  test('hands out no more than wanted, even to two concurrent takers', () => {
    const queue = new MutantQueue(mutants(1), 2, new Map());
    const [first, second] = [queue.take(), queue.take()];
    expect([first, second, queue.take()]).toEqual([...mutants(1).slice(0, 2), null]);
  });

  test('replaces a mutant that cannot be judged, and keeps it in the results', () => {
    const [first, second] = mutants(1);
    const queue = new MutantQueue(mutants(1), 1, new Map());
    queue.take();
    queue.finish(judged(first, 'void'));
    expect(queue.take()).toEqual(second);
    queue.finish(judged(second, 'survived'));
    expect(queue.take()).toBeNull();
    expect(queue.results().map(({ outcome }) => outcome)).toEqual(['void', 'survived']);
  });

  test('does not hand out known results again', () => {
    const [first, second] = mutants(1);
    const queue = new MutantQueue(mutants(1), 2, new Map([[first.name, judged(first)]]));
    expect(queue.take()).toEqual(second);
    queue.finish(judged(second));
    expect(queue.results()).toEqual([judged(first), judged(second)]);
  });
});
