import fc from 'fast-check';
import { isUtf8 } from 'node:buffer';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readUserText } from '../../../core/node/read-lines.ts';
import { asUtf8, decodeText, requireText } from '../../../core/text/text-encoding.ts';

/** As Windows saves a text: Notepad's "UTF-16 LE", PowerShell's `>`. */
const utf16 = (text: string): Buffer => Buffer.from(`\uFEFF${text}`, 'utf16le');
const text = '{"name": "Zürich €"}\r\n';

describe("a user's text file", () => {
  it('is decoded by its mark, else as UTF-8', () => {
    for (const bytes of [Buffer.from(text), Buffer.from(`\uFEFF${text}`), utf16(text), utf16(text).swap16()]) {
      expect(decodeText(bytes, 'f.json')).toBe(text);
    }
    expect(decodeText(new Uint8Array(), 'f')).toBe('');
  });

  it('that is neither is refused with line and byte, never replaced', () => {
    const latin = Buffer.from('{\r\n  "name": "Zürich"}', 'latin1');
    expect(() => decodeText(latin, 'f.json')).toThrow(
      'f.json, line 2: byte 13 of the line is 0xFC, which is not UTF-8. Save the file as UTF-8.',
    );
    expect(() => decodeText(Buffer.from('{"a": 1}', 'utf16le'), 'f.json')).toThrow(
      'f.json, line 1: byte 2 of the line is 0, as in UTF-16 without a mark at the beginning. Save the file as UTF-8.',
    );
    expect(() => decodeText(utf16('ab').subarray(0, 5), 'f.json')).toThrow('f.json is not whole text in utf-16le.');
    for (const mark of ['', '\uFEFF']) {
      const utf32 = new Uint8Array(
        Uint32Array.from(Array.from(mark + text, (sign) => sign.codePointAt(0) ?? 0)).buffer,
      );
      expect(() => decodeText(utf32, 'f.json')).toThrow(
        'f.json is text in UTF-32, which is not read. Save the file as UTF-8.',
      );
      expect(() => decodeText(Buffer.from(utf32).swap32(), 'f.json')).toThrow('is text in UTF-32');
    }
    // Where an encoding can be named, the remedy says so.
    expect(() => asUtf8(latin, 'f.csv', { encoding: null })).toThrow(
      "or name its encoding (encoding: 'windows-1252').",
    );
    expect(Buffer.from(asUtf8(latin, 'f.csv', { encoding: 'windows-1252' }).text).toString()).toContain('Zürich');
    // In Mac OS Roman, which Python calls mac_roman, ü is 0x9F.
    const mac = Buffer.from('Z\x9Frich', 'latin1');
    for (const encoding of ['macintosh', 'mac_roman', 'mac-roman']) {
      expect(Buffer.from(asUtf8(mac, 'f.csv', { encoding }).text).toString()).toBe('Zürich');
    }
  });

  it('is checked as Node checks it, in parts of a mebibyte', () => {
    const isText = (bytes: Uint8Array): boolean => {
      try {
        requireText(bytes, 'f', 0, {});
        return true;
      } catch {
        return false;
      }
    };
    fc.assert(
      fc.property(fc.uint8Array({ min: 1, maxLength: 8 }), fc.integer({ min: -5, max: 1 }), (some, shift) => {
        const bytes = Buffer.alloc(2 ** 20 + shift + some.length + 4, 'a');
        bytes.set(some, 2 ** 20 + shift);
        expect(isText(bytes)).toBe(isUtf8(bytes));
      }),
      { seed: 5, numRuns: 100 },
    );
    const euros = Buffer.from(`a${'€'.repeat(700_000)}`);
    expect([isText(euros), isText(euros.subarray(0, -1))]).toEqual([true, false]);
  });

  it('that is absent is named with what was tried', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tutti-text-'));
    const path = join(folder, 'config.json');
    await expect(readUserText(path, 'read the configuration')).rejects.toThrow(`Cannot read the configuration ${path}`);
    await writeFile(path, utf16(text));
    expect(await readUserText(path, 'read the configuration')).toBe(text);
    await rm(folder, { recursive: true });
  });
});
