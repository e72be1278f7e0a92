import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Generator } from '../../workers/random/index.ts';

/** Samples of real data, in the layout of a `TUTTI_DATA` folder. */
export const samples = import.meta.dirname;

const classes = 10;
const planes = 3;
const side = 32;
/** An image is 4x4 squares of uniform colour with noise. */
const squares = 4;

/**
 * Writes files of CIFAR-10's binary version into `folder/cifar10`. Each class has a pattern of colours, and each image
 * different noise. A network learns them in a few steps, and overfits.
 */
export async function writeMadeCifar10(folder: string, images: { train: number; test: number }): Promise<void> {
  await mkdir(join(folder, 'cifar10'), { recursive: true });
  const generator = new Generator(1, 'made CIFAR-10');
  const patterns = new Float32Array(classes * planes * squares * squares);
  generator.fillNormal(patterns);
  for (const [name, count] of [
    ['data_batch_1.bin', images.train],
    ['test_batch.bin', images.test],
  ] as const) {
    const records = Array.from({ length: count }, (_, i) => record(patterns, i % classes, generator));
    await writeFile(join(folder, 'cifar10', name), Buffer.concat(records));
  }
}

/** A label byte, then the planes of red, green and blue. */
function record(patterns: Float32Array, label: number, generator: Generator): Buffer {
  const noise = new Float32Array(planes * side * side);
  generator.fillNormal(noise);
  const width = side / squares;
  const bytes = noise.map((value, i) => {
    const [plane, y, x] = [Math.floor(i / (side * side)), Math.floor(i / side) % side, i % side];
    const square = Math.floor(y / width) * squares + Math.floor(x / width);
    return 128 + 12 * patterns[(label * planes + plane) * squares * squares + square] + 40 * value;
  });
  return Buffer.concat([Buffer.of(label), Uint8Array.from(bytes, (byte) => Math.min(255, Math.max(0, byte)))]);
}
