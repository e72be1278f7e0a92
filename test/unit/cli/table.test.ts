import { describe, expect, it } from 'vitest';
import { renderTable, wrapText } from '../../../src-main/cli/table.ts';

describe('renderTable', () => {
  it('aligns text left and numbers right, without trailing blanks', () => {
    const columns = [{ title: 'set' }, { title: 'NLL', right: true }, { title: 'note' }];
    expect(
      renderTable(columns, [
        ['final', '0.4', ''],
        ['best', '12.35', 'x'],
      ]),
    ).toEqual([
      'set      NLL  note', //
      'final    0.4',
      'best   12.35  x',
    ]);
  });
});

describe('wrapText', () => {
  it('breaks between words and keeps long words whole', () => {
    expect(wrapText('one two  three', 7)).toEqual(['one two', 'three']);
    expect(wrapText('a incomprehensibility b', 5)).toEqual(['a', 'incomprehensibility', 'b']);
    expect(wrapText('', 5)).toEqual([]);
  });
});
