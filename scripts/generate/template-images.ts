/**
 * Draws the images of the template `images`: grey shapes at random places, in random sizes, under noise. Needed only to
 * change them.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { Generator } from '../../workers/random/index.ts';

const side = 16;
const imagesPerClass = 40;

/** Whether a point belongs to a shape: coordinates relative to its centre, in units of its radius. */
const shapes: Record<string, (x: number, y: number) => boolean> = {
  cross: (x, y) => Math.min(Math.abs(x), Math.abs(y)) < 0.3 && Math.max(Math.abs(x), Math.abs(y)) < 1,
  disc: (x, y) => x * x + y * y < 1,
  square: (x, y) => Math.max(Math.abs(x), Math.abs(y)) < 0.85,
};

const generator = new Generator(1, 'shapes');
for (const [name, isInside] of Object.entries(shapes)) {
  const folder = join(import.meta.dirname, '../../templates/images/images', name);
  await mkdir(folder, { recursive: true });
  for (let i = 0; i < imagesPerClass; i++) {
    const radius = 4.5 + 1.5 * generator.uniform();
    const [x, y] = [0, 1].map(() => radius + (side - 2 * radius) * generator.uniform());
    const pixels = Array.from({ length: side * side }, (_, pixel) => {
      const [dx, dy] = [(pixel % side) + 0.5 - x, Math.floor(pixel / side) + 0.5 - y];
      // Few levels of grey make small files.
      return (isInside(dx / radius, dy / radius) ? 160 : 40) + 16 * generator.integer(4);
    });
    await sharp(Buffer.from(pixels), { raw: { width: side, height: side, channels: 1 } })
      .png({ palette: true, colours: 8 })
      .toFile(join(folder, `${String(i).padStart(2, '0')}.png`));
  }
}
