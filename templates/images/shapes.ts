import { createDataset, Generator } from 'tutti-ensembles';

export const classNames = ['disc', 'square', 'cross'];
export const side = 16;

/** Draws grey images of shapes at random places, in random sizes, under noise. Replace it with a reader of your images. */
export function drawShapes(samples: number, seed: number) {
  const generator = new Generator(seed, 'shapes');
  const features = new Uint8Array(samples * side * side);
  const targets = new Int32Array(samples);
  for (let i = 0; i < samples; i++) {
    targets[i] = i % classNames.length;
    const radius = 3 + 3 * generator.uniform();
    const x = radius + (side - 2 * radius) * generator.uniform();
    const y = radius + (side - 2 * radius) * generator.uniform();
    for (let pixel = 0; pixel < side * side; pixel++) {
      const [dx, dy] = [(pixel % side) + 0.5 - x, Math.floor(pixel / side) + 0.5 - y];
      const light = isInside(targets[i], dx / radius, dy / radius) ? 160 : 40;
      features[i * side * side + pixel] = light + 80 * generator.uniform();
    }
  }
  return createDataset({ name: 'shapes', featureShape: [side, side, 1], features, targets, classNames });
}

/** Coordinates relative to the centre, in units of the radius. */
function isInside(shape: number, x: number, y: number): boolean {
  if (shape === 0) return x * x + y * y < 1;
  if (shape === 1) return Math.max(Math.abs(x), Math.abs(y)) < 0.85;
  return Math.min(Math.abs(x), Math.abs(y)) < 0.3 && Math.max(Math.abs(x), Math.abs(y)) < 1;
}
