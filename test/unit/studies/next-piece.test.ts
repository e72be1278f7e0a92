import { describe, expect, it } from 'vitest';
import { nextPiece, trialsKnownTo } from '../../../core/protocol/studies/next-piece.ts';
import { describeSpentSpace, summarize } from '../../../core/protocol/pages/study-summary.ts';
import type { Study } from '../../../core/protocol/studies/study.ts';
import type { StudyLine } from '../../../core/protocol/studies/study-line.ts';
import { StudyLog, type Work } from '../../../core/protocol/studies/study-log.ts';
import type { Pruner } from '../../../core/studies/pruners/settings.ts';
import type { Assignment } from '../../../core/studies/space/space.ts';
import { Generator } from '../../../core/random/generator.ts';
import { chooseWork } from '../../../src-main/studies/work/driver.ts';
import { studyOf } from './studies.ts';

const time = '2026-11-23T07:00:00.000Z';
const rungs = { minimumResource: 1, maximumResource: 9, reductionFactor: 3 };

/**
 * Lines of a study whose pieces end in an order drawn from a seed. A loss that depends on the values alone stands in
 * for training.
 */
function simulate(study: Study, wanted: number, order: Generator): StudyLine[] {
  const lines: StudyLine[] = [];
  let log = new StudyLog();
  const add = (line: StudyLine): void => {
    lines.push(line);
    expect(log.take(line)).toBe(true);
  };
  add({ type: 'trials', count: wanted, time });
  for (;;) {
    // A process that was killed knows what it had written, and no more.
    if (order.uniform() < 0.1) log = readAgain(lines);
    const chosen = chooseWork(study, log, { worker: 'w', isLeft: () => false });
    expect(chosen.works.length).toBeLessThanOrEqual(study.trialsPerWorker);
    const running = log.works.filter(({ end }) => end === null);
    expect(running.length).toBeLessThanOrEqual(study.parallel);
    if (chosen.end === 'done' && chosen.works.length === 0) return lines;
    const begins = chosen.works.length > 0 && (running.length === 0 || order.uniform() < 0.5);
    if (begins) {
      // A process that is killed may have written only some of the lines of a group. The next one completes it.
      const written = 1 + Math.floor(order.uniform() * chosen.lines.length);
      for (const line of chosen.lines.slice(0, written)) add({ ...line, time });
      if (written === chosen.lines.length) continue;
      const isLeft = (work: Work): boolean => chosen.works.includes(work.number) && work.number < log.works.length;
      for (const line of chooseWork(study, log, { worker: 'v', isLeft }).lines) add({ ...line, time });
      continue;
    }
    const ending = running[Math.floor(order.uniform() * running.length)];
    for (const line of endOf(log, ending.number)) add(line);
  }
}

function readAgain(lines: readonly StudyLine[]): StudyLog {
  const log = new StudyLog();
  for (const line of lines) log.take(line);
  return log;
}

const lossOf = ({ weightDecay, units }: Assignment): number =>
  Math.abs(Math.log(Number(weightDecay))) + Number(units) / 64;

function endOf(log: StudyLog, number: number): StudyLine[] {
  const { trial, until } = log.works[number];
  const loss = lossOf(log.trials[trial].values);
  const end = { type: 'end' as const, work: number, number: trial, error: null, time };
  if (trial % 7 === 3) return [{ ...end, state: 'failed', objectives: null, error: 'killed' }];
  const report: StudyLine[] = until === null ? [] : [{ type: 'report', number: trial, step: until, value: loss, time }];
  if (until !== null && until < rungs.maximumResource)
    return [...report, { ...end, state: 'paused', objectives: null }];
  return [...report, { ...end, state: 'complete', objectives: [loss] }];
}

/** What a study chose: values, and which trial goes on to which rung, in order. */
function choicesOf(lines: readonly StudyLine[]): unknown[] {
  return lines.flatMap((line) => {
    if (line.type === 'begin') return [[line.work, line.number, line.values, line.until]];
    return line.type === 'resume' ? [[line.work, line.number, line.until]] : [];
  });
}

describe('the pieces of work of a study', () => {
  const pruners: Pruner[] = [
    { kind: 'none' },
    { kind: 'asha', ...rungs },
    { kind: 'halving', ...rungs, trials: 9 },
    { kind: 'hyperband', ...rungs },
  ];
  it.each(pruners.map((pruner) => [pruner.kind, pruner] as const))(
    'are the same whatever ends first, and however often it is interrupted: %s',
    (_kind, pruner) => {
      for (const [parallel, trialsPerWorker] of [
        [1, 1],
        [3, 1],
        [8, 1],
        [4, 4],
        [6, 3],
      ]) {
        const study = studyOf({ pruner, parallel, trialsPerWorker });
        const [first, ...others] = [1, 2, 3, 4].map((seed) => simulate(study, 30, new Generator(seed, 'order')));
        expect(choicesOf(first).filter((choice) => Array.isArray(choice) && choice.length === 4)).toHaveLength(30);
        for (const other of others) expect(choicesOf(other)).toEqual(choicesOf(first));
      }
    },
  );

  it.each(pruners.map((pruner) => [pruner.kind, pruner] as const))(
    'end once each configuration of a small space was tried, with the best trained to its end: %s',
    (_kind, pruner) => {
      const space: Study['space'] = {
        weightDecay: { kind: 'choice', choices: [1, 2] },
        units: { kind: 'int', low: 1, high: 2 },
      };
      for (const [parallel, trialsPerWorker] of [
        [1, 1],
        [3, 1],
        [4, 2],
      ]) {
        const study = studyOf({ pruner, parallel, trialsPerWorker, space });
        const [lines, again] = [1, 2].map((seed) => simulate(study, 30, new Generator(seed, 'order')));
        expect(choicesOf(again)).toEqual(choicesOf(lines));
        const log = readAgain(lines);
        expect(new Set(log.trials.map(({ values }) => JSON.stringify(values))).size).toBe(4);
        expect(log.trials).toHaveLength(4);
        // One is killed. Of the others the one with the least loss goes on to the last rung.
        const losses = (isMeant: (state: string) => boolean) =>
          log.trials.filter(({ state }) => isMeant(state)).map(({ values }) => lossOf(values));
        expect(losses((state) => state === 'complete')).toContain(Math.min(...losses((state) => state !== 'failed')));
        const now = { isRunning: false, isHere: false };
        expect(summarize(study, log, now)).toMatchObject({ status: 'finished', configurations: 4 });
        expect(describeSpentSpace(summarize(study, log, now))).toBe(
          'There are 4 configurations to try, and the study has tried all.',
        );
      }
    },
  );

  it('continue with what is enqueued in a space that is spent, and are announced to end early', () => {
    const study = studyOf({ parallel: 1, space: { units: { kind: 'int', low: 5, high: 5 } } });
    const log = new StudyLog();
    log.take({ type: 'trials', count: 3, time });
    const now = { isRunning: true, isHere: true };
    const text = 'There is 1 configuration to try, each once, so the study ends before it has 3 trials.';
    expect(describeSpentSpace(summarize(study, log, now))).toBe(text);
    expect(describeSpentSpace(summarize(studyOf(), log, now))).toBeNull();
    const begin = { type: 'begin' as const, isEnqueued: false, until: null, worker: 'w', time };
    log.take({ ...begin, work: 0, number: 0, values: { units: 5 } });
    log.take({ type: 'end', work: 0, number: 0, state: 'complete', objectives: [1], error: null, time });
    expect(nextPiece(study, log)).toEqual({ kind: 'done' });
    log.take({ type: 'enqueued', values: { units: 5 }, time });
    expect(nextPiece(study, log)).toMatchObject({ kind: 'begin', isEnqueued: true, values: { units: 5 } });
    expect(summarize(study, log, { isRunning: false, isHere: false }).status).toBe('stopped');
  });

  it('keep as many trials under way as the study allows', () => {
    const study = studyOf({ parallel: 3 });
    const log = new StudyLog();
    log.take({ type: 'trials', count: 10, time });
    for (const number of [0, 1, 2]) {
      const piece = nextPiece(study, log);
      expect(piece).toMatchObject({ kind: 'begin', work: number, number });
      if (piece.kind !== 'begin') continue;
      const { kind: type, ...fields } = piece;
      log.take({ type, ...fields, worker: 'w', time });
    }
    expect(nextPiece(study, log)).toEqual({ kind: 'wait' });
    // Trial 3 knows trial 0, and needs no other.
    log.take({ type: 'end', work: 1, number: 1, state: 'complete', objectives: [1], error: null, time });
    expect(nextPiece(study, log)).toEqual({ kind: 'wait' });
    log.take({ type: 'end', work: 0, number: 0, state: 'complete', objectives: [2], error: null, time });
    expect(nextPiece(study, log)).toMatchObject({ kind: 'begin', number: 3 });
    expect(trialsKnownTo(study, log, 3).map(({ state }) => state)).toEqual(['complete', 'running', 'running']);
  });

  it('begin together where trials share a worker, and know the same', () => {
    const study = studyOf({ parallel: 6, trialsPerWorker: 3 });
    const log = new StudyLog();
    log.take({ type: 'trials', count: 11, time });
    const next = (): ReturnType<typeof chooseWork> => {
      const chosen = chooseWork(study, log, { worker: 'w', isLeft: () => false });
      for (const line of chosen.lines) log.take({ ...line, time });
      return chosen;
    };
    const end = (work: number): boolean =>
      log.take({ type: 'end', work, number: work, state: 'complete', objectives: [work], error: null, time });
    expect([next().works, next().works, next()]).toMatchObject([[0, 1, 2], [3, 4, 5], { works: [], end: 'wait' }]);
    for (const work of [4, 0, 3, 5, 1]) end(work);
    expect(next().end).toBe('wait');
    end(2);
    // The third group knows the first one, whatever else has ended.
    expect(next().works).toEqual([6, 7, 8]);
    expect(log.works.slice(6).map(({ group }) => group)).toEqual(
      Array.from({ length: 3 }, () => ({ first: 6, known: 3 })),
    );
    const states = trialsKnownTo(study, log, 8).map(({ state }) => state);
    expect(states).toEqual([
      ...Array.from({ length: 3 }, () => 'complete'),
      ...Array.from({ length: 6 }, () => 'running'),
    ]);
    // The last group is smaller: the study has 11 trials.
    expect(next().works).toEqual([9, 10]);
    for (const work of [6, 7, 8, 9, 10]) end(work);
    // More trials begin a group of their own, which knows the one that has ended.
    log.take({ type: 'trials', count: 12, time });
    expect(next().works).toEqual([11]);
    expect(log.works[11].group?.first).toBe(11);
  });

  it('try enqueued values first, completed by the sampler, and end after the last combination of a grid', () => {
    const study = studyOf({
      parallel: 1,
      sampler: { kind: 'grid', points: 2 },
      space: { units: { kind: 'int', low: 1, high: 2 } },
    });
    const log = new StudyLog();
    log.take({ type: 'trials', count: 10, time });
    log.take({ type: 'enqueued', values: { units: 2 }, time });
    const tried = [];
    for (let work = 0; ; work++) {
      const piece = nextPiece(study, log);
      if (piece.kind !== 'begin') break;
      tried.push([piece.values.units, piece.isEnqueued]);
      const { kind: type, ...fields } = piece;
      log.take({ type, ...fields, worker: 'w', time });
      log.take({ type: 'end', work, number: work, state: 'complete', objectives: [0], error: null, time });
    }
    // The grid does not repeat what was enqueued, and leaves nothing out.
    expect(tried).toEqual([
      [2, true],
      [1, false],
    ]);
    expect(nextPiece(study, log)).toEqual({ kind: 'done' });
  });
});
