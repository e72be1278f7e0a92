import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { Generator } from '../../../../workers/random/index.ts';

/** Drawings of 24 × 24 pixels, by the name of their class. */
const drawings: Record<string, (x: number, y: number, radius: number) => string> = {
  circles: (x, y, radius) => `<circle cx="${x}" cy="${y}" r="${radius}"/>`,
  bars: (x, y, radius) => `<rect x="${x - 2}" y="${y - radius - 4}" width="4" height="${2 * radius + 8}"/>`,
};

/** Draws images of two classes into `<folder>/<class>/`, at random places and in random colours. */
export async function drawShapes(folder: string, imagesPerClass: number, seed: number): Promise<void> {
  const generator = new Generator(seed, 'shapes');
  for (const [name, draw] of Object.entries(drawings)) {
    await mkdir(join(folder, name), { recursive: true });
    for (let i = 0; i < imagesPerClass; i++) {
      const [x, y, radius] = [8 + generator.integer(9), 8 + generator.integer(9), 3 + generator.integer(3)];
      const colour = `hsl(${generator.integer(360)}, 80%, 65%)`;
      const svg = `<svg width="24" height="24" style="background:#222"><g fill="${colour}">${draw(x, y, radius)}</g></svg>`;
      const file = join(folder, name, `${i}.${i % 2 === 0 ? 'png' : 'jpg'}`);
      await sharp(Buffer.from(svg)).flatten({ background: '#222' }).toFile(file);
    }
  }
}
