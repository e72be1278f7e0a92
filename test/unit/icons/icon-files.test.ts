import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';

const folder = join(import.meta.dirname, '../../../packaging/icons');

describe('The icons', () => {
  it('for macOS are blocks of a type, a length and a PNG of its size', async () => {
    const icon = readFileSync(join(folder, 'tutti.icns'));
    expect(icon.toString('latin1', 0, 4)).toBe('icns');
    expect(icon.readUInt32BE(4)).toBe(icon.length);
    const sides: Record<string, number | undefined> = {};
    for (let at = 8; at < icon.length; at += icon.readUInt32BE(at + 4)) {
      const png = icon.subarray(at + 8, at + icon.readUInt32BE(at + 4));
      sides[icon.toString('latin1', at, at + 4)] = (await sharp(png).metadata()).width;
    }
    // The types and their sizes as https://en.wikipedia.org/wiki/Apple_Icon_Image_format lists them.
    const single = { icp4: 16, icp5: 32, ic07: 128, ic08: 256, ic09: 512, ic10: 1024 };
    expect(sides).toEqual({ ...single, ic11: 32, ic12: 64, ic13: 256, ic14: 512 });
  });

  it('for Windows are a directory of PNGs', async () => {
    const icon = readFileSync(join(folder, 'tutti.ico'));
    expect([0, 2, 4].map((at) => icon.readUInt16LE(at))).toEqual([0, 1, 7]);
    const images = Array.from({ length: 7 }, (_, index) => {
      const entry = icon.subarray(6 + 16 * index, 22 + 16 * index);
      const offset = entry.readUInt32LE(12);
      return { named: entry[0], png: icon.subarray(offset, offset + entry.readUInt32LE(8)) };
    });
    const sides = await Promise.all(images.map(async ({ png }) => (await sharp(png).metadata()).width));
    expect(sides).toEqual([16, 24, 32, 48, 64, 128, 256]);
    // 256 does not fit into the byte, and is written as 0.
    expect(images.map(({ named }) => named)).toEqual([16, 24, 32, 48, 64, 128, 0]);
  });

  it('for Linux have the size of their name, and show the logo: white lines on blue', async () => {
    const { data, info } = await sharp(readFileSync(join(folder, '64x64.png')))
      .raw()
      .toBuffer({ resolveWithObject: true });
    expect([info.width, info.height, info.channels]).toEqual([64, 64, 4]);
    const at = (x: number, y: number): number[] => [...data.subarray(4 * (64 * y + x), 4 * (64 * y + x) + 4)];
    expect(at(32, 2)).toEqual([0x1d, 0x56, 0xc9, 255]);
    // Where the four lines have become one.
    expect(at(48, 32)).toEqual([255, 255, 255, 255]);
    expect(at(0, 0)[3]).toBe(0);
  });
});
