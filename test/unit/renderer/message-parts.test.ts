import { expect, it } from 'vitest';
import { messageParts } from '../../../src-renderer/components/basic/format.ts';

it('separates the code in a message from its words', () => {
  const code = "  5 |   name: 'broken',\n> 6 |   model: ( => 1,\n    |            ^\n  7 | });";
  expect(messageParts(`project.ts could not be loaded: Expression expected\nat project.ts:6:12\n${code}`)).toEqual([
    { kind: 'words', text: 'project.ts could not be loaded: Expression expected\nat project.ts:6:12' },
    { kind: 'code', text: code },
  ]);
});

it('leaves other messages as they are', () => {
  for (const text of ['', 'There is no run x.', 'a | b\n- c']) {
    expect(messageParts(text)).toEqual([{ kind: 'words', text }]);
  }
});
