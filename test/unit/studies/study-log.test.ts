import { describe, expect, it } from 'vitest';
import { bestSoFar, objectiveOf, scoresOf } from '../../../core/protocol/studies/results.ts';
import { studyRequestSchema, studySchema } from '../../../core/protocol/studies/study.ts';
import { studyLineSchema, type StudyLine } from '../../../core/protocol/studies/study-line.ts';
import { StudyLog } from '../../../core/protocol/studies/study-log.ts';
import { studyEnsembleSchema } from '../../../core/protocol/pages/study-views.ts';
import { toJson } from '../../../core/protocol/wire/numbers.ts';
import { studyOf } from './studies.ts';

const time = '2026-11-23T07:00:00.000Z';
const begin = (work: number, changes: Partial<Extract<StudyLine, { type: 'begin' }>> = {}): StudyLine => ({
  type: 'begin',
  work,
  number: work,
  values: { units: 3 },
  isEnqueued: false,
  until: null,
  worker: 'a',
  time,
  ...changes,
});

function logOf(...lines: StudyLine[]): StudyLog {
  const log = new StudyLog();
  for (const line of lines) expect(log.take(line)).toBe(true);
  return log;
}

describe('the log of a study', () => {
  it('counts the processes that a piece of work has lost, and not those that gave it back', () => {
    const log = logOf(
      begin(0),
      { type: 'release', work: 0, worker: 'a', time },
      { type: 'claim', work: 0, worker: 'b', time },
    );
    expect(log.works[0]).toMatchObject({ worker: 'b', losses: 0 });
    log.take({ type: 'claim', work: 0, worker: 'c', time });
    expect(log.works[0]).toMatchObject({ worker: 'c', losses: 1 });
  });

  it('ignores lines that follow on nothing', () => {
    const log = logOf({ type: 'trials', count: 2, time }, begin(0));
    expect(log.take(begin(0))).toBe(false);
    expect(log.take({ type: 'claim', work: 5, worker: 'b', time })).toBe(false);
    expect(log.take({ type: 'resume', work: 1, number: 0, until: 3, worker: 'b', time })).toBe(false);
    const end: StudyLine = { type: 'end', work: 0, number: 0, state: 'complete', objectives: [1], error: null, time };
    expect(log.take(end)).toBe(true);
    expect(log.take({ ...end, state: 'failed', objectives: null })).toBe(false);
    expect(log.trials[0]).toMatchObject({ state: 'complete', objectives: [1], endedAt: time });
    expect(log.left).toBe(1);
  });

  it('keeps what a repeated run reports again once', () => {
    const log = logOf(begin(0));
    for (const value of [0.5, 0.5]) log.take({ type: 'report', number: 0, step: 1, value, time });
    log.take({ type: 'report', number: 0, step: 2, value: NaN, time });
    expect(log.trials[0].reports).toEqual([
      { step: 1, value: 0.5 },
      { step: 2, value: NaN },
    ]);
  });

  it('keeps NaN and infinities in its lines', () => {
    const lines: StudyLine[] = [
      { type: 'end', work: 0, number: 0, state: 'complete', objectives: [NaN, Infinity, -Infinity], error: null, time },
      { type: 'report', number: 0, step: 4, value: -Infinity, time },
    ];
    for (const line of lines) expect(studyLineSchema.parse(JSON.parse(toJson(line)))).toEqual(line);
  });

  it('takes the mean over splits and seeds, with the standard error', () => {
    const run = (split: number, seed: number): StudyLine => ({
      type: 'run',
      number: 0,
      part: { split, seed },
      run: `run-${split}-${seed}`,
      ranks: null,
      devices: ['cpu:0'],
      time,
    });
    const scores = (split: number, seed: number, ensemble: number): StudyLine => ({
      type: 'scores',
      number: 0,
      part: { split, seed },
      scores: [{ metric: 'nll', ensemble, meanMember: 2 * ensemble }],
      time,
    });
    const log = logOf(
      begin(0),
      run(0, 0),
      scores(0, 0, 1),
      run(1, 0),
      scores(1, 0, 2),
      run(0, 1),
      scores(0, 1, 6),
      run(1, 1),
    );
    const [score] = scoresOf(log.trials[0], ['nll', 'acc']);
    // 1, 2 and 6: the variance is 7, and its standard error √(7/3).
    expect(score).toEqual({
      metric: 'nll',
      ensemble: 3,
      ensembleError: Math.sqrt(7 / 3),
      meanMember: 6,
      meanMemberError: Math.sqrt(28 / 3),
    });
    expect(objectiveOf({ metric: 'nll', kind: 'mean-member', direction: 'minimize' }, [score]).value).toBe(6);
    expect(objectiveOf({ metric: 'acc', kind: 'ensemble', direction: 'maximize' }, [score]).value).toBeNaN();
  });

  it('replaces the best trial only by one that is better by more than the minimum improvement', () => {
    const trials = [NaN, 5, 4.95, 4.5, 4.5, -Infinity].map((value, number) => ({
      number,
      state: 'complete' as const,
      objectives: [value],
    }));
    const numbers = (minimumImprovement: number) =>
      bestSoFar(studyOf({ minimumImprovement }), trials).map(({ number }) => number);
    expect(numbers(0)).toEqual([1, 2, 3, 5]);
    expect(numbers(0.1)).toEqual([1, 3, 5]);
    expect(bestSoFar(studyOf(), [{ number: 0, state: 'failed', objectives: null }])).toEqual([]);
  });
});

it('a study, and requests for one, are checked', () => {
  expect(studySchema.parse(JSON.parse(JSON.stringify(studyOf())))).toEqual(studyOf());
  expect(studySchema.safeParse(studyOf({ objectives: [] })).success).toBe(false);
  const { objectives } = studyOf();
  expect(studyRequestSchema.safeParse({ projectFolder: '/p', name: null, objectives, trials: 3 }).success).toBe(true);
  expect(studyRequestSchema.safeParse({ projectFolder: '/p', name: null, objectives, trials: 0 }).success).toBe(false);
  expect(studyEnsembleSchema.safeParse({ method: 'greedy', trials: [], size: 3, name: 'x' }).success).toBe(false);
});
