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
  it('is waited for by calls, and NaN comes back as NaN', async () => {
    hub.api.series = () => ({ series: [{ name: 'a', value: Float64Array.of(1, NaN) }] });
    const answer = client.hub.series('x', { names: [], maximumPoints: 100, fromStep: null, toStep: null });
    hub.last.opened();
    expect((await answer).series[0].value).toEqual(Float64Array.of(1, NaN));
    expect(states).toEqual([{ kind: 'connected' }]);
  });

  it('that fails makes the calls fail that waited for it', async () => {
    const answer = client.hub.runs();
    hub.last.closed(false);
    await expect(answer).rejects.toThrow('Tutti does not answer');
  });
});

describe('an error of the hub', () => {
  it('arrives with its message', async () => {
    hub.api.run = () => {
      throw new Error('There is no run x.');
    };
    hub.last.opened();
    await expect(client.hub.run('x')).rejects.toThrow('There is no run x.');
  });
});

describe('a connection that is lost', () => {
  it('fails the calls under way', async () => {
    hub.api.runs = () => new Promise(() => undefined);
    hub.last.opened();
    const answer = client.hub.runs();
    await Promise.resolve();
    hub.last.closed(false);
    await expect(answer).rejects.toThrow('The connection was lost');
  });

  it('is opened again after longer and longer waits, which are counted', async () => {
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

  it('is opened again at once when the user asks, and only once', async () => {
    hub.last.opened();
    hub.last.closed(false);
    client.retryNow();
    client.retryNow();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(hub.listeners).toHaveLength(2);
  });

  it('is given up where the hub turns the page away', async () => {
    hub.last.closed(true);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(hub.listeners).toHaveLength(1);
    expect(client.state).toEqual({ kind: 'refused' });
  });
});

describe('what the hub tells', () => {
  it('reaches those who listen, until they stop', async () => {
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
