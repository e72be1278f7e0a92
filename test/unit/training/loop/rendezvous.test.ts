import { describe, expect, it } from 'vitest';
import {
  agreeOnEnd,
  agreeOnRendezvous,
  agreeOnRound,
  type EndVote,
  type RoundReport,
} from '../../../../workers/training/rendezvous.ts';
import { createInMemoryGroup } from '../../relay/in-memory-group.ts';

const healthy: RoundReport = {
  position: { epoch: 0, step: 3 },
  meanLoss: 1,
  nonFinite: null,
  stopRequested: false,
  isComplete: true,
  isAtPlannedEnd: true,
};
const continueTraining: EndVote = {
  stopVoted: false,
  done: false,
  standingBy: false,
  stoppedAlone: false,
  stateDue: false,
};
const stoppedAlone: Partial<EndVote> = { standingBy: true, stoppedAlone: true };

/** The value that all ranks agree on. Checks that they agree. */
async function agreed<R, T>(
  own: Partial<R>[],
  base: R,
  agree: (group: ReturnType<typeof createInMemoryGroup>['groups'][number], own: R, rank: number) => Promise<T>,
): Promise<T> {
  const { groups } = createInMemoryGroup([2, 5, 6].slice(0, own.length));
  const answers = await Promise.all(groups.map((group, i) => agree(group, { ...base, ...own[i] }, i)));
  for (const answer of answers) expect(answer).toEqual(answers[0]);
  return answers[0];
}

const round = (...own: Partial<RoundReport>[]) => agreed(own, healthy, agreeOnRound);
const end = (stopRequested: boolean, ...own: Partial<EndVote>[]) =>
  agreed(own, continueTraining, (group, vote) => agreeOnEnd(group, stopRequested, vote));

describe('agreeOnRound', () => {
  it('takes the mean over the ranks that trained', async () => {
    expect((await round({ meanLoss: 1 }, { meanLoss: NaN }, { meanLoss: 4 })).meanLoss).toBe(2.5);
    expect((await round({ meanLoss: NaN }, { meanLoss: NaN })).meanLoss).toBeNaN();
  });

  it('names the lowest rank, by its global index, whose loss was not finite', async () => {
    expect((await round({}, {}, {})).nonFinite).toBeNull();
    const { nonFinite } = await round({}, { nonFinite: { epoch: 4, step: 90 } }, { nonFinite: { epoch: 0, step: 0 } });
    expect(nonFinite).toEqual({ rank: 5, epoch: 4, step: 90 });
  });

  it('stops all ranks when any rank was requested to stop', async () => {
    expect((await round({}, { stopRequested: true }, {})).stopRequested).toBe(true);
    expect((await round({}, {}, {})).stopRequested).toBe(false);
  });

  it('is complete, and planned, only where every rank is at its end', async () => {
    expect(await round({}, {})).toMatchObject({ isComplete: true, isPlanned: true });
    expect(await round({}, { isAtPlannedEnd: false })).toMatchObject({ isComplete: true, isPlanned: false });
    expect(await round({ isComplete: false, isAtPlannedEnd: false }, {})).toMatchObject({
      isComplete: false,
      isPlanned: false,
    });
  });

  it('takes the position of the furthest rank', async () => {
    const behind = { position: { epoch: 1, step: 6 } };
    expect((await round(behind, { position: { epoch: 4, step: 15 } }, behind)).position).toEqual({
      epoch: 4,
      step: 15,
    });
  });
});

it('agreeOnRendezvous takes the least of the ranks that still train', async () => {
  const agree = (...own: { rendezvous: number; standingBy: boolean }[]) =>
    agreed(own, { rendezvous: 0, standingBy: false }, agreeOnRendezvous);
  const [three, four] = [3, 4].map((rendezvous) => ({ rendezvous, standingBy: false }));
  const standing = { rendezvous: 1, standingBy: true };
  expect(await agree(three, four, three)).toBe(3);
  expect(await agree(standing, four)).toBe(4);
  expect(await agree(standing, standing)).toBe(1);
});

describe('agreeOnEnd', () => {
  it('continues while any rank has steps left', async () => {
    expect((await end(false, {}, { done: true }, { standingBy: true })).end).toBeNull();
  });

  it.each([
    { stopRequested: true, votes: [{ stopVoted: true }, { done: true }], reason: 'requested' },
    { stopRequested: false, votes: [{}, { stopVoted: true }], reason: 'early-stopping' },
    { stopRequested: false, votes: [{ done: true }, { standingBy: true }], reason: 'early-stopping' },
    { stopRequested: false, votes: [{ done: true }, { done: true }], reason: 'completed' },
    { stopRequested: false, votes: [{ done: true }, stoppedAlone], reason: 'completed' },
    { stopRequested: false, votes: [{ standingBy: true }, stoppedAlone], reason: 'early-stopping' },
    { stopRequested: false, votes: [stoppedAlone, stoppedAlone], reason: 'requested' },
  ])('$votes with a requested stop $stopRequested is "$reason"', async ({ stopRequested, votes, reason }) => {
    expect((await end(stopRequested, ...votes)).end).toBe(reason);
  });

  it("saves state by the first rank's clock", async () => {
    expect((await end(false, { stateDue: true }, {})).stateDue).toBe(true);
    expect((await end(false, {}, { stateDue: true })).stateDue).toBe(false);
  });
});
