import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type ConnectionState, HubClient } from '../../../src-renderer/client/hub-client.ts';
import { FakeHub } from './fake-hub.ts';

let hub: FakeHub;
let client: HubClient;
let states: ConnectionState[];

beforeEach(() => {
  vi.useFakeTimers();
  hub = new FakeHub();
  client = new HubClient(hub);
  states = [];
  client.on('stateChanged', (state) => states.push(state));
});
afterEach(() => vi.useRealTimers());

describe('the first connection', () => {
  it('is awaited by calls, and NaN arrives as NaN', async () => {
    hub.api.series = () => ({ series: [{ name: 'a', value: Float64Array.of(1, NaN) }] });
    const answer = client.hub.series('x', { names: [], maximumPoints: 100, fromStep: null, toStep: null });
    hub.last.opened();
    expect((await answer).series[0].value).toEqual(Float64Array.of(1, NaN));
    expect(states).toEqual([{ kind: 'connected' }]);
  });

  it('makes waiting calls fail when it fails', async () => {
    const answer = client.hub.runs({});
    hub.last.closed(false);
    await expect(answer).rejects.toThrow('Tutti does not answer');
  });
});

describe('an error from the hub', () => {
  it('arrives with its message', async () => {
    hub.api.run = () => {
      throw new Error('There is no run x.');
    };
    hub.last.opened();
    await expect(client.hub.run('x')).rejects.toThrow('There is no run x.');
  });
});

describe('a lost connection', () => {
  it('fails pending calls', async () => {
    hub.api.runs = () => new Promise(() => undefined);
    hub.last.opened();
    const answer = client.hub.runs({});
    await Promise.resolve();
    hub.last.closed(false);
    await expect(answer).rejects.toThrow('The connection was lost');
  });

  it('is reopened after increasing delays, which are counted', async () => {
    let returns = 0;
    client.on('returned', () => (returns += 1));
    hub.last.opened();
    expect(returns).toBe(0);
    for (const waitMs of [250, 500, 1000, 2000, 4000, 4000]) {
      hub.last.closed(false);
      const connections = hub.listeners.length;
      await vi.advanceTimersByTimeAsync(waitMs - 1);
      expect(hub.listeners).toHaveLength(connections);
      await vi.advanceTimersByTimeAsync(1);
      expect(hub.listeners).toHaveLength(connections + 1);
    }
    expect(client.state).toEqual({ kind: 'disconnected', attempts: 6 });
    hub.last.opened();
    expect(client.state).toEqual({ kind: 'connected' });
    expect(returns).toBe(1);
  });

  it('is reopened immediately and only once when the user asks', async () => {
    hub.last.opened();
    hub.last.closed(false);
    client.retryNow();
    client.retryNow();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(hub.listeners).toHaveLength(2);
  });

  it('is abandoned if the hub rejects the page', async () => {
    hub.last.closed(true);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(hub.listeners).toHaveLength(1);
    expect(client.state).toEqual({ kind: 'refused' });
  });
});

describe('messages from the hub', () => {
  it('reach subscribers until they unsubscribe', async () => {
    hub.last.opened();
    const heard: string[] = [];
    const end = client.on('runUpdates', (id, updates) => heard.push(`${id} ${updates.length}`));
    hub.page?.runUpdates('a', []);
    await vi.advanceTimersByTimeAsync(0);
    end();
    hub.page?.runUpdates('b', []);
    await vi.advanceTimersByTimeAsync(0);
    expect(heard).toEqual(['a 0']);
  });
});
