import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  balanceStages,
  bubbleFraction,
  type Instruction,
  mostInFlight,
  pipelinePlace,
  type ScheduleKind,
  stageSchedule,
  sumOfUnits,
} from '../../../core/pipeline/schedule.ts';

const kinds = fc.constantFrom<ScheduleKind>('1f1b', 'gpipe');
const sizes = fc.record({
  kind: kinds,
  stages: fc.integer({ min: 1, max: 9 }),
  parts: fc.integer({ min: 1, max: 20 }),
});

const short = (all: Instruction[]) => all.map(({ pass, part }) => `${pass === 'forward' ? 'F' : 'B'}${part}`).join(' ');

describe('the schedules of a pipeline', () => {
  it('are those of the papers for 4 stages and 4 micro-batches', () => {
    const of = (kind: ScheduleKind) => [0, 1, 2, 3].map((stage) => short(stageSchedule(kind, 4, stage, 4)));
    expect(of('1f1b')).toEqual([
      'F0 F1 F2 F3 B0 B1 B2 B3',
      'F0 F1 F2 B0 F3 B1 B2 B3',
      'F0 F1 B0 F2 B1 F3 B2 B3',
      'F0 B0 F1 B1 F2 B2 F3 B3',
    ]);
    expect(of('gpipe')).toEqual(Array.from({ length: 4 }, () => 'F0 F1 F2 F3 B0 B1 B2 B3'));
  });

  it('pass every micro-batch forward once, then backward once, each in ascending order', () => {
    fc.assert(
      fc.property(sizes, ({ kind, stages, parts }) => {
        for (let stage = 0; stage < stages; stage++) {
          const all = stageSchedule(kind, stages, stage, parts);
          const order = Array.from({ length: parts }, (_, part) => part);
          const of = (wanted: Instruction['pass']) => all.flatMap(({ pass, part }) => (pass === wanted ? [part] : []));
          expect(of('forward')).toEqual(order);
          expect(of('backward')).toEqual(order);
          for (const part of order) {
            const at = (wanted: string) => all.findIndex(({ pass, part: own }) => pass === wanted && own === part);
            expect(at('forward')).toBeLessThan(at('backward'));
          }
        }
      }),
    );
  });

  it('hold at most S - s activations with 1f1b, and M with gpipe', () => {
    fc.assert(
      fc.property(sizes, ({ kind, stages, parts }) => {
        for (let stage = 0; stage < stages; stage++) {
          let held = 0;
          let most = 0;
          for (const { pass } of stageSchedule(kind, stages, stage, parts)) {
            held += pass === 'forward' ? 1 : -1;
            most = Math.max(most, held);
          }
          expect(held).toBe(0);
          expect(most).toBe(mostInFlight(kind, stages, stage, parts));
          expect(most).toBeLessThanOrEqual(kind === '1f1b' ? stages - stage : parts);
        }
      }),
    );
  });

  it('never wait for each other in a circle, and have the bubble (S - 1) / (M + S - 1) with equal stages', () => {
    fc.assert(
      fc.property(sizes, fc.integer({ min: 1, max: 3 }), ({ kind, stages, parts }, backwardTime) => {
        const makespan = simulate(kind, stages, parts, backwardTime);
        const busy = parts * (1 + backwardTime);
        expect(1 - busy / makespan).toBeCloseTo(bubbleFraction(stages, parts), 12);
      }),
    );
  });

  it('refuses a stage that does not exist', () => {
    expect(() => stageSchedule('1f1b', 2, 2, 4)).toThrow('Stage 2 is not one of 0 to 1.');
  });
});

/** The time of a step whose forward passes take 1: each stage does its next pass once what it needs has arrived. */
function simulate(kind: ScheduleKind, stages: number, parts: number, backwardTime: number): number {
  const ended = new Map<string, number>();
  const todo = Array.from({ length: stages }, (_, stage) => stageSchedule(kind, stages, stage, parts));
  const free = todo.map(() => 0);
  const needed = (stage: number, { pass, part }: Instruction): string | null => {
    if (pass === 'forward') return stage === 0 ? null : `forward ${stage - 1} ${part}`;
    return stage === stages - 1 ? `forward ${stage} ${part}` : `backward ${stage + 1} ${part}`;
  };
  while (todo.some((own) => own.length > 0)) {
    let isStuck = true;
    for (let stage = 0; stage < stages; stage++) {
      const next = todo[stage].at(0);
      if (next === undefined) continue;
      const need = needed(stage, next);
      const ready = need === null ? 0 : ended.get(need);
      if (ready === undefined) continue;
      todo[stage].shift();
      isStuck = false;
      free[stage] = Math.max(free[stage], ready) + (next.pass === 'forward' ? 1 : backwardTime);
      ended.set(`${next.pass} ${stage} ${next.part}`, free[stage]);
    }
    if (isStuck) throw new Error('The stages wait for each other.');
  }
  return Math.max(...free);
}

describe('the balance of stages', () => {
  const chains = fc
    .record({ costs: fc.array(fc.integer({ min: 0, max: 20 }), { minLength: 1, maxLength: 8 }), stages: fc.nat(7) })
    .map(({ costs, stages }) => ({ costs, stages: 1 + (stages % costs.length) }));

  it('splits equal layers evenly, and isolates a heavy one', () => {
    expect(balanceStages(8, 4, sumOfUnits([1, 1, 1, 1, 1, 1, 1, 1]))).toEqual([0, 2, 4, 6]);
    expect(balanceStages(5, 3, sumOfUnits([1, 1, 9, 1, 1]))).toEqual([0, 2, 3]);
  });

  it('counts what a stage holds by its place, such as the micro-batches in flight', () => {
    // Stage 0 of two holds two micro-batches: 1·2 and 2·1 are better than 2·2 or 1·3.
    expect(balanceStages(3, 2, (start, end, stage) => (end - start) * (2 - stage))).toEqual([0, 1]);
  });

  it('has the smallest largest cost of all splits', () => {
    fc.assert(
      fc.property(chains, ({ costs, stages }) => {
        const starts = balanceStages(costs.length, stages, sumOfUnits(costs));
        expect(starts).toHaveLength(stages);
        expect(starts[0]).toBe(0);
        const largest = (of: readonly number[]) =>
          Math.max(
            ...of.map((start, i) => costs.slice(start, of[i + 1] ?? costs.length).reduce((sum, cost) => sum + cost, 0)),
          );
        for (const [i, start] of starts.entries()) expect(start).toBeLessThan(starts[i + 1] ?? costs.length);
        expect(largest(starts)).toBe(Math.min(...splits(costs.length, stages).map(largest)));
      }),
    );
  });

  it('refuses more stages than units', () => {
    expect(() => balanceStages(2, 3, sumOfUnits([1, 1]))).toThrow('2 unit(s) cannot be split into 3 stages');
  });
});

function splits(units: number, stages: number): number[][] {
  if (stages === 1) return [[0]];
  const all: number[][] = [];
  for (let last = stages - 1; last < units; last++) {
    for (const first of splits(last, stages - 1)) all.push([...first, last]);
  }
  return all;
}

describe('the places of pipelined members', () => {
  it('are by stage, so that the first ranks are the members', () => {
    expect(pipelinePlace(5, 6, 2)).toEqual({ member: 2, stage: 1, ofMember: [2, 5], ofStage: [3, 4, 5] });
    expect(pipelinePlace(2, 4, 4)).toEqual({ member: 0, stage: 2, ofMember: [0, 1, 2, 3], ofStage: [2] });
    expect(() => pipelinePlace(0, 5, 2)).toThrow('5 ranks do not divide into members of 2 stages.');
  });

  it('cover all ranks once, by member and by stage', () => {
    const counts = fc.record({ members: fc.integer({ min: 1, max: 6 }), stages: fc.integer({ min: 1, max: 6 }) });
    fc.assert(
      fc.property(counts, ({ members, stages }) => {
        const ranks = Array.from({ length: members * stages }, (_, rank) => rank);
        for (const rank of ranks) {
          const { member, stage, ofMember, ofStage } = pipelinePlace(rank, ranks.length, stages);
          expect([ofMember[stage], ofStage[member]]).toEqual([rank, rank]);
          expect([ofMember.length, ofStage.length]).toEqual([stages, members]);
        }
      }),
    );
  });
});
