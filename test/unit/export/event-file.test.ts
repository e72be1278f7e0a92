import { describe, expect, it } from 'vitest';
import { crc32c, encodeFileVersion, encodeScalars, maskedCrc32c } from '../../../src-main/export/tensorboard.ts';
import { readEventFile } from './event-reader.ts';

describe('crc32c', () => {
  // RFC 3720, appendix B.4. Its bytes are in wire order (least significant first).
  it.each([
    ['32 zeros', new Uint8Array(32), '8a9136aa'],
    ['32 ones', new Uint8Array(32).fill(0xff), '62a8ab43'],
    ['ascending', Uint8Array.from({ length: 32 }, (_, index) => index), '46dd794e'],
    ['descending', Uint8Array.from({ length: 32 }, (_, index) => 31 - index), '113fdb5c'],
  ])('of %s equals that of RFC 3720', (_name, bytes, expected) => {
    const checksum = Buffer.alloc(4);
    checksum.writeUInt32BE(crc32c(bytes));
    expect(checksum.toString('hex')).toBe(expected);
  });

  it('of "123456789" equals the check value of the CRC catalogue, and is masked as in TensorFlow', () => {
    const bytes = Buffer.from('123456789');
    expect(crc32c(bytes)).toBe(0xe3069283);
    // rotate_right(0xe3069283, 15) = 0x2507c60d; + 0xa282ead8 = 0xc78ab0e5.
    expect(maskedCrc32c(bytes)).toBe(0xc78ab0e5);
  });
});

describe('event records', () => {
  it('start with the version, as written by TensorFlow', () => {
    const record = encodeFileVersion(1.5);
    expect(record.toString('hex')).toBe(
      // Length 24, its checksum (as in every TensorFlow event file), wall_time 1.5, "brain.Event:2", checksum.
      `1800000000000000${record.toString('hex', 8, 12)}09000000000000f83f1a0d${Buffer.from('brain.Event:2').toString('hex')}${record.toString('hex', 36)}`,
    );
    expect(readEventFile(record)).toEqual([
      { wallTimeSeconds: 1.5, step: 0, fileVersion: 'brain.Event:2', scalars: [] },
    ]);
  });

  it('carry scalars, NaN and infinities, large steps and any name', () => {
    const scalars: [string, number][] = [
      ['val/nll', 0.5],
      ['größe', Number.NaN],
      ['a'.repeat(200), -Infinity],
      ['third', 1 / 3],
    ];
    const file = Buffer.concat([encodeScalars(1.7e9, 0, scalars.slice(0, 1)), encodeScalars(1.7e9, 2 ** 40, scalars)]);
    const [first, second] = readEventFile(file);
    expect(first).toEqual({ wallTimeSeconds: 1.7e9, step: 0, fileVersion: null, scalars: [['val/nll', 0.5]] });
    expect(second.step).toBe(2 ** 40);
    expect(second.scalars).toEqual([...scalars.slice(0, 3), ['third', Math.fround(1 / 3)]]);
  });

  it('fail the checksum when a bit flips', () => {
    const record = encodeScalars(1, 1, [['a', 1]]);
    for (const at of [0, 9, 14, record.length - 1]) {
      const flipped = Buffer.from(record);
      flipped[at] ^= 1;
      expect(() => readEventFile(flipped)).toThrow('does not fit');
    }
  });
});
