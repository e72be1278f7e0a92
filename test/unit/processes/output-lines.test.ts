import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { copyLines, LineSplitter, longestLine } from '../../../src-main/processes/output-lines.ts';

/** All lines of a text that arrives in pieces. */
function split(pieces: readonly string[]): string[] {
  const splitter = new LineSplitter();
  return [...pieces.flatMap((piece) => splitter.push(piece)), ...splitter.end()];
}

describe('the lines of an output', () => {
  it('end at line feeds and carriage returns, whichever pieces they arrive in', () => {
    expect(split(['one\r', '\ntwo\nthr', 'ee\rfour', '\n\nfive'])).toEqual(['one', 'two', 'three', 'four', '', 'five']);
    expect(split(['last\r'])).toEqual(['last']);
    expect(split([])).toEqual([]);
  });

  it('are the same however the text is cut', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'é', '\n', '\r', '\r\n'), maxLength: 60 });
    fc.assert(
      fc.property(text, fc.array(fc.nat(60), { maxLength: 6 }), (whole, cuts) => {
        const at = [0, ...cuts.map((cut) => Math.min(cut, whole.length)).sort((a, b) => a - b), whole.length];
        const pieces = at.slice(1).map((end, i) => whole.slice(at[i], end));
        expect(split(pieces)).toEqual(split([whole]));
      }),
      { seed: 11 },
    );
  });

  it('are cut at the longest length', () => {
    const lines = split(['x'.repeat(longestLine - 1), 'xxx', '\n', 'y'.repeat(2 * longestLine), '\nz']);
    expect(lines.map((line) => `${line[0]}${line.length}`)).toEqual([
      `x${longestLine}`,
      'x2',
      `y${longestLine}`,
      `y${longestLine}`,
      'z1',
    ]);
  });

  it('of a slow sink wait in the stream: 600 MB without a line break stay out of memory', async () => {
    const chunk = 'x'.repeat(2 ** 20);
    let [produced, written, ahead] = [0, 0, 0];
    const stream = Readable.from(
      (function* () {
        for (; produced < 600; produced++) yield chunk;
      })(),
      { objectMode: false, highWaterMark: 2 ** 20 },
    );
    await copyLines(stream, [
      {
        write: (line) => void (written += line.length),
        drained: () => {
          ahead = Math.max(ahead, produced * 2 ** 20 - written);
          return new Promise((resolve) => setImmediate(resolve));
        },
      },
    ]);
    expect(written).toBe(600 * 2 ** 20);
    expect(ahead).toBeLessThan(8 * 2 ** 20);
  });
});
