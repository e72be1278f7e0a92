import { describe, expect, it } from 'vitest';
import { labelOfName } from '../../../src-renderer/components/basic/format.ts';
import { KeySequences } from '../../../src-renderer/composables/shortcuts.ts';

const press = (key: string, modifiers: { ctrlKey?: boolean; metaKey?: boolean; altKey?: boolean } = {}) => ({
  key,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  ...modifiers,
});

describe('key sequences', () => {
  const keys = () => new KeySequences(['g p', 'g r', 'mod+k', '?', 'p']);

  it('are complete with their last key', () => {
    const sequences = keys();
    expect(sequences.press(press('g'), 0)).toBeNull();
    expect(sequences.press(press('r'), 500)).toBe('g r');
    expect(sequences.press(press('r'), 600)).toBeNull();
  });

  it('take precedence over single keys, and end after a pause', () => {
    const sequences = keys();
    sequences.press(press('g'), 0);
    expect(sequences.press(press('p'), 1000)).toBe('g p');
    sequences.press(press('g'), 2000);
    expect(sequences.press(press('p'), 3001)).toBe('p');
  });

  it('restart with a key that does not match', () => {
    const sequences = keys();
    sequences.press(press('g'), 0);
    expect(sequences.press(press('g'), 100)).toBeNull();
    expect(sequences.press(press('p'), 200)).toBe('g p');
  });

  it('treat ctrl and cmd alike, and ignore other modifiers', () => {
    expect(keys().press(press('k', { ctrlKey: true }), 0)).toBe('mod+k');
    expect(keys().press(press('K', { metaKey: true }), 0)).toBe('mod+k');
    expect(keys().press(press('p', { ctrlKey: true }), 0)).toBeNull();
    expect(keys().press(press('p', { altKey: true }), 0)).toBeNull();
  });
});

describe('labelOfName', () => {
  it('spells names as words', () => {
    expect(labelOfName('stateEverySeconds')).toBe('State every seconds');
  });
});
