import { describe, expect, it } from 'vitest';
import {
  collectiveOperations,
  collectiveStages,
  type CollectiveStage,
  mayFollow,
  nextStages,
  stageRules,
} from '../../../../core/protocol/wire/collective-stages.ts';

/** Every valid sequence of requests of a rank, written by hand. Reports (`stuck`) may repeat. */
const courses: [operation: 'all-reduce' | 'all-gather', stages: CollectiveStage[]][] = [
  ['all-gather', ['whole']],
  ['all-reduce', ['reserve', 'whole']],
  ['all-reduce', ['reserve', 'reserve', 'written', 'reduced']],
  ['all-gather', ['reserve', 'reserve', 'written']],
  ['all-reduce', ['reserve', 'reserve', 'mapped']],
  ['all-reduce', ['written', 'reduced']],
  ['all-gather', ['written']],
  ['all-gather', ['mapped', 'stuck', 'stuck']],
  ['all-reduce', ['mapped', 'stuck']],
  ['all-gather', ['awaited', 'withdrawn']],
];

const pairsOf = (operation: string): Set<string> =>
  new Set(
    courses
      .filter(([of]) => of === operation || operation === 'any')
      .flatMap(([, stages]) => stages.map((stage, i) => `${i === 0 ? 'begin' : stages[i - 1]} > ${stage}`)),
  );

describe('the stages of a collective', () => {
  it('follow each other exactly as in the sequences listed here', () => {
    for (const operation of ['all-reduce', 'all-gather'] as const) {
      const allowed = new Set<string>();
      for (const next of collectiveStages) {
        if (mayFollow(null, next)) allowed.add(`begin > ${next}`);
        for (const stage of collectiveStages) {
          if (mayFollow({ stage, operation }, next)) allowed.add(`${stage} > ${next}`);
        }
      }
      const expected = pairsOf('any');
      if (operation === 'all-gather') expected.delete('written > reduced');
      expect(allowed).toEqual(expected);
    }
  });

  it('include a reduced slice only in an all-reduce', () => {
    for (const operation of collectiveOperations) {
      expect(nextStages({ stage: 'written', operation })).toEqual(operation === 'all-reduce' ? ['reduced'] : []);
    }
  });

  it('are answered where ranks wait for an answer', () => {
    const answered = collectiveStages.filter((stage) => stageRules[stage].answered !== 'never');
    expect(answered).toEqual(['whole', 'reserve', 'written', 'reduced', 'mapped', 'stuck']);
  });
});
