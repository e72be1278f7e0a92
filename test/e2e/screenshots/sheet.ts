import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import sharp from 'sharp';

/** Sheets of pictures: the looks of a page side by side. */

export interface Piece {
  picture: Buffer;
  left: number;
  top: number;
}

export const gap = 24;
const background = '#8d95a3';
const quality = 80;

/** Lays rows of pictures on a sheet, aligned at their tops, as a WebP file of lower resolution. */
export async function layOut(rows: readonly (readonly Buffer[])[], scale: number): Promise<Buffer> {
  const pieces: Piece[] = [];
  let [width, top] = [0, gap];
  for (const row of rows) {
    let [left, height] = [gap, 0];
    for (const picture of row) {
      const size = await sharp(picture).metadata();
      pieces.push({ picture, left, top });
      left += size.width + gap;
      height = Math.max(height, size.height);
    }
    width = Math.max(width, left);
    top += height + gap;
  }
  const composite = pieces.map(({ picture: input, left, top }) => ({ input, left, top }));
  const whole = await sharp({ create: { width, height: top, channels: 3, background } })
    .composite(composite)
    .png()
    .toBuffer();
  return await sharp(whole)
    .resize({ width: Math.round(width * scale), height: Math.round(top * scale), fit: 'fill', background })
    .webp({ quality })
    .toBuffer();
}

/** A picture as an earlier commit has it; null where that commit has none. */
export async function pictureAt(revision: string, path: string, cwd: string): Promise<Buffer | null> {
  const options = { cwd, encoding: 'buffer' as const, maxBuffer: 2 ** 26 };
  const { stdout: listed } = await promisify(execFile)('git', ['ls-tree', revision, path], options);
  if (listed.length === 0) return null;
  const { stdout } = await promisify(execFile)('git', ['show', `${revision}:${path}`], options);
  return stdout;
}
