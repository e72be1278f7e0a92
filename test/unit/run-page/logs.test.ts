import { describe, expect, it } from 'vitest';
import { filterLines, isAtEnd, severityOf } from '../../../src-renderer/views/run/logs.ts';

const lines = ['Epoch 1 loss 0.5', 'epoch 2 LOSS 0.4', 'saved'].map((text, rank) => ({ time: '', rank, text }));

describe('lines of logs', () => {
  it('match all words in any order and case', () => {
    expect(filterLines(lines, ' loss epoch ').map(({ rank }) => rank)).toEqual([0, 1]);
    expect(filterLines(lines, 'loss 2').map(({ rank }) => rank)).toEqual([1]);
    expect(filterLines(lines, '  ')).toHaveLength(3);
  });

  it('stand out if they contain an error or a warning', () => {
    expect(severityOf('TypeError: Error: x')).toBe('error');
    expect(severityOf('(node:1) DeprecationWarning: Warning: old')).toBe('warning');
    expect(severityOf('no errors so far, terror averted')).toBeNull();
  });

  it('follow the end unless scrolled up', () => {
    expect(isAtEnd({ scrollTop: 896, clientHeight: 100, scrollHeight: 1000 })).toBe(true);
    expect(isAtEnd({ scrollTop: 800, clientHeight: 100, scrollHeight: 1000 })).toBe(false);
  });
});
