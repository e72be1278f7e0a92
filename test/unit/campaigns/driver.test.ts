import { describe, expect, it } from 'vitest';
import { CampaignDriver, type CampaignPolicy, type Choice } from '../../../src-main/campaigns/driver.ts';
import { CampaignRun, type CampaignWork } from '../../../src-main/campaigns/work.ts';
import type { RunSession } from '../../../src-main/runs/attempt/run-session.ts';

type End = 'done' | 'failed' | 'left';

/** Work that ends when a test says so. */
class HeldWork implements CampaignWork {
  readonly requests: string[] = [];
  readonly ended = Promise.withResolvers<End>();
  readonly place: number;

  constructor(place: number) {
    this.place = place;
  }

  finish(): Promise<End> {
    return this.ended.promise;
  }

  stop(): void {
    this.requests.push('stop');
    this.ended.resolve('left');
  }

  abort(): void {
    this.requests.push('abort');
    this.ended.resolve('left');
  }
}

/** So many pieces of work, of which three failures in a row are the most. */
function policyOf(pieces: number, places: number, more: Partial<CampaignPolicy<HeldWork>> = {}) {
  const begun: HeldWork[] = [];
  const choose = async (place: number): Promise<Choice<HeldWork>> => {
    if (begun.length === pieces) return { kind: 'done' };
    const work = new HeldWork(place);
    begun.push(work);
    return { kind: 'begin', works: [work] };
  };
  return { begun, driver: new CampaignDriver({ places, mostFailures: 3, choose, ...more }) };
}

describe('the driver of a campaign', () => {
  it('has as much under way as it has places, and gives a free place to the next', async () => {
    const { begun, driver } = policyOf(4, 2);
    const end = driver.run();
    await expect.poll(() => begun.map(({ place }) => place)).toEqual([0, 1]);
    begun[1].ended.resolve('done');
    await expect.poll(() => begun.map(({ place }) => place)).toEqual([0, 1, 1]);
    begun[0].ended.resolve('done');
    await expect.poll(() => begun.map(({ place }) => place)).toEqual([0, 1, 1, 0]);
    for (const work of begun) work.ended.resolve('done');
    expect(await end).toBe('done');
  });

  it('stops what goes on, and also what a policy chose as the stop came', async () => {
    const chosen = Promise.withResolvers<Choice<HeldWork>>();
    const [first, late] = [new HeldWork(0), new HeldWork(1)];
    const choices = [Promise.resolve<Choice<HeldWork>>({ kind: 'begin', works: [first] }), chosen.promise];
    const { driver } = policyOf(0, 2, { choose: () => choices.shift() ?? Promise.reject(new Error('No more.')) });
    const end = driver.run();
    await expect.poll(() => choices).toEqual([]);
    driver.stop();
    driver.stop();
    chosen.resolve({ kind: 'begin', works: [late] });
    expect(await end).toBe('stopped');
    expect([first.requests, late.requests]).toEqual([['stop'], ['stop']]);
  });

  it('begins no more after too many failures in a row, and lets the others end', async () => {
    const { begun, driver } = policyOf(9, 2);
    const end = driver.run();
    // What others did says nothing about this process.
    for (const [at, ending] of (
      ['failed', 'left', 'failed', 'done', 'failed', 'failed', 'failed'] as const
    ).entries()) {
      await expect.poll(() => begun.length).toBe(at + 2);
      begun[at + 1].ended.resolve(ending);
    }
    begun[0].ended.resolve('done');
    expect(await end).toBe('gave up');
    expect(begun).toHaveLength(8);
    expect(begun[0].requests).toEqual([]);
  });

  it.each<[string, Partial<CampaignPolicy<HeldWork>>]>([
    ['giving up', { mostFailures: 1, giveUp: () => expect.fail('No trial succeeds.') }],
    ['reading what has changed', { changed: () => Promise.reject(new Error('No trial succeeds.')) }],
  ])('stops the others where %s throws, and throws it once they have ended', async (_, more) => {
    const { begun, driver } = policyOf(9, 2, more);
    const end = driver.run();
    await expect.poll(() => begun.length).toBe(2);
    begun[0].ended.resolve('failed');
    await expect(end).rejects.toThrow('No trial succeeds.');
    expect(begun[1].requests).toEqual(['stop']);
  });

  it('waits until something has changed', async () => {
    let isPossible = false;
    const choose = async (): Promise<Choice<HeldWork>> =>
      isPossible ? { kind: 'done' } : { kind: 'wait', lookAfterMs: null };
    const { driver } = policyOf(0, 1, { choose });
    const end = driver.run();
    driver.look();
    isPossible = true;
    driver.look();
    expect(await end).toBe('done');
  });
});

it('a run that is asked to end before it has a session is told so as soon as it has one', async () => {
  const told: string[] = [];
  const ended = Promise.withResolvers<never>();
  const session = {
    run: () => ended.promise,
    control: ({ action }: { action: string }) => told.push(action),
    abort: () => told.push('abort'),
  } as unknown as RunSession;
  const run = new CampaignRun();
  run.stop();
  expect(run.isAsked).toBe(true);
  const training = run.train(session);
  expect(told).toEqual(['stop']);
  run.abort();
  // A later stop does not weaken it.
  run.stop();
  expect(told).toEqual(['stop', 'abort', 'abort']);
  ended.reject(new Error('It has ended.'));
  await expect(training).rejects.toThrow('It has ended.');
});
