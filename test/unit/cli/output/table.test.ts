import { describe, expect, it } from 'vitest';
import { lookOf, plainLook, type Style } from '../../../../src-main/cli/look.ts';
import { renderTable, wrapText } from '../../../../src-main/cli/table.ts';

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

  const columns = [
    { title: 'id' },
    { title: 'name', least: 4 },
    { title: 'project', least: 3, dispensable: 1 },
    { title: 'n', right: true, dispensable: 2 },
  ];
  const rows = [['run-1', 'a long name', 'Two moons', '12']];
  const narrow = (width: number): string[] => renderTable(columns, rows, { ...plainLook, width });

  it('cuts the widest cells to fit the width, and keeps whole what may not be cut', () => {
    expect(renderTable(columns, rows)[1]).toBe('run-1  a long name  Two moons  12');
    expect(narrow(33)[1]).toBe('run-1  a long name  Two moons  12');
    expect(narrow(28)[1]).toBe('run-1  a long…  Two moo…  12');
    expect(narrow(28)[0]).toBe('id     name     project    n');
    expect(narrow(20)[1]).toBe('run-1  a l…  Tw…  12');
  });

  it('leaves out columns of a still narrower terminal, the most dispensable first', () => {
    expect(narrow(19)[1]).toBe('run-1  a lo…  Two …');
    expect(narrow(15)[1]).toBe('run-1  a long …');
    expect(narrow(3)[1]).toBe('run-1  a l…');
  });

  it('colours cells without a change of their alignment', () => {
    const paint = (style: Style | null, text: string): string => (style === null ? text : `<${style}>${text}</>`);
    const coloured = [
      { title: 'status', style: () => 'green' as const },
      { title: 'n', right: true },
    ];
    expect(renderTable(coloured, [['ok', '1']], { width: Infinity, paint })).toEqual([
      '<bold>status</>  <bold>n</>',
      '<green>ok</>      1',
    ]);
  });
});

describe('the look of an output', () => {
  const paints = (isTTY: boolean, environment: Record<string, string>): boolean =>
    lookOf({ isTTY }, environment).paint('red', 'x') !== 'x';

  it('has colours in terminals, unless NO_COLOR or TERM say no, and elsewhere if FORCE_COLOR says so', () => {
    expect(lookOf({ isTTY: true }, {}).paint('red', 'x')).toBe('\u001b[31mx\u001b[39m');
    expect(paints(false, {})).toBe(false);
    expect(paints(true, { NO_COLOR: '1' })).toBe(false);
    expect(paints(true, { NO_COLOR: '' })).toBe(true);
    expect(paints(true, { TERM: 'dumb' })).toBe(false);
    expect(paints(false, { FORCE_COLOR: '1', NO_COLOR: '1' })).toBe(true);
    expect(paints(true, { FORCE_COLOR: '0' })).toBe(false);
  });

  it('has the width of a terminal, and none elsewhere', () => {
    expect(lookOf({ isTTY: true, columns: 60 }, {}).width).toBe(60);
    expect(lookOf({ isTTY: false, columns: 60 }, {}).width).toBe(Infinity);
  });
});

describe('wrapText', () => {
  it('breaks between words and keeps long words whole', () => {
    expect(wrapText('one two  three', 7)).toEqual(['one two', 'three']);
    expect(wrapText('a incomprehensibility b', 5)).toEqual(['a', 'incomprehensibility', 'b']);
    expect(wrapText('', 5)).toEqual([]);
  });
});
