import { expect, it } from 'vitest';
import { type CollectiveCall, noSignals } from '../../../core/protocol/wire/collectives.ts';
import { SlotExchange } from '../../../workers/collectives/memory/slot-exchange.ts';
import type { Slots } from '../../../workers/collectives/memory/mapped-slots.ts';

const barrier: CollectiveCall = {
  sequence: 1,
  operation: 'barrier',
  reduce: null,
  root: null,
  distance: null,
  dataType: 'uint8',
  shape: [0],
  stage: 'whole',
};

/** Slots of a group of one, whose parts are always there at once. */
class FilledSlots implements Slots {
  readonly slotBytes = 8;
  #content: Parameters<Slots['put']>[1] | null = null;
  isFree = () => true;
  untilFree = () => Promise.resolve();
  fillsSoon = () => true;
  untilFilled = () => Promise.resolve();
  release = () => undefined;
  put(...[, content]: Parameters<Slots['put']>): void {
    this.#content = content;
  }
  read() {
    return this.#content === null ? [] : [this.#content];
  }
}

it('lets the event loop turn, however fast calls end', async () => {
  const exchange = new SlotExchange(new FilledSlots(), { rank: 0, ranks: [0], tell: () => undefined, large: null });
  const turn = new Promise((resolve) => setImmediate(resolve, 'turned'));
  const call = async (): Promise<string> => {
    await exchange.run(barrier, noSignals, { data: null, into: null });
    return 'ended';
  };
  let first: unknown = 'ended';
  while (first === 'ended') first = await Promise.race([turn, call()]);
  expect(first).toBe('turned');
});
