import { expect, it } from 'vitest';
import type { Channel } from '../../../core/protocol/wire/channel.ts';
import type { Frame } from '../../../core/protocol/wire/frames.ts';
import { HubLink } from '../../../workers/session/hub-link.ts';

it.each([
  ['unknown', { type: 'dance' }, 'of "dance" type'],
  ['cut short', { type: 'written' }, 'of "written" type'],
  ['no object', 7, 'of no type'],
])('a message of the hub that is %s is named, and not passed on', (_name, message, named) => {
  let receive: (frame: Frame) => void = () => {};
  const channel: Channel = { send() {}, close() {}, onClose() {}, onFrame: (taken) => (receive = taken) };
  const taken: unknown[] = [];
  const link = new HubLink(channel, { message: (one) => taken.push(one), collective() {}, closed() {} });
  expect(() => receive({ kind: 'message', message, arrays: [] })).toThrow(
    new RegExp(`^The hub sent a message ${named} that this worker does not know[^]*same version`),
  );
  receive({ kind: 'message', message: { type: 'leave' }, arrays: [] });
  expect(taken).toEqual([{ type: 'leave' }]);
  link.close();
});
