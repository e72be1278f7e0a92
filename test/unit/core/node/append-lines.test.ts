import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { appendLines } from '../../../../core/node/append-lines.ts';

let folder = '';
let path = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tutti-append-'));
  path = join(folder, 'lines');
});
afterEach(() => rm(folder, { recursive: true }));

describe('appending lines', () => {
  it.each([
    ['no file', null, 'time\nnew\n'],
    ['an empty file', '', 'time\nnew\n'],
    ['whole lines', 'old\nlast\n', 'old\nlast\nnew\n'],
    ['an empty line', '\n', '\nnew\n'],
    ['one character of a line that a crash truncated', 'o', 'o,cut\nnew\n'],
    ['the beginning of a line after a complete one', 'old\nl', 'old\nl,cut\nnew\n'],
    ['the end of a line before a complete one', 'a\nold', 'a\nold,cut\nnew\n'],
  ])('to %s', async (_what, before, after) => {
    if (before !== null) await writeFile(path, before);
    await appendLines(path, ['new'], { header: 'time', closing: ',cut' });
    expect(await readFile(path, 'utf8')).toBe(after);
  });

  it('writes no header where none is given, and only terminates a truncated line', async () => {
    await appendLines(path, ['a', 'b']);
    expect(await readFile(path, 'utf8')).toBe('a\nb\n');
    await writeFile(path, 'cut');
    await appendLines(path, ['c'], { durable: true });
    expect(await readFile(path, 'utf8')).toBe('cut\nc\n');
  });
});
