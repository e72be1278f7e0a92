import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { createDataset, createSplits } from '../dataset.ts';
import type { Dataset, Splits } from '../dataset.ts';
import { byteCount, reasonOf, sizeOf } from './files.ts';
import { obtainFile, placesOf } from './locate.ts';
import type { DataSource } from './locate.ts';
import { readTar } from './tar.ts';

const archive = {
  name: 'cifar-10-binary.tar.gz',
  urls: ['https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz'],
  sha256: 'c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd',
  bytes: 170_052_171,
};
const batchFolder = 'cifar-10-batches-bin';
const trainingFiles = [1, 2, 3, 4, 5].map((batch) => `data_batch_${batch}.bin`);
const testFile = 'test_batch.bin';

const classNames = ['airplane', 'automobile', 'bird', 'cat', 'deer', 'dog', 'frog', 'horse', 'ship', 'truck'];
/** Moments of the 50,000 training images, per channel R, G, B. */
const normalization = { mean: [0.4914, 0.4822, 0.4465], std: [0.247, 0.2435, 0.2616] };

const planePixels = 32 * 32;
const imageBytes = 3 * planePixels;
const recordBytes = 1 + imageBytes;

/** The content of a batch file, and its source for error messages. */
interface BatchFile {
  source: string;
  bytes: Buffer;
}

/**
 * Loads CIFAR-10: colour images in 10 classes, features uint8 `[N, 32, 32, 3]`; 50,000 training and 10,000 test images.
 * It reads the batch files of the binary version, or else its archive. If only some batch files (or shortened ones)
 * exist, it uses these, and the data sets' names give the number of images.
 *
 * Source: Krizhevsky, "Learning multiple layers of features from tiny images", 2009.
 * @throws Error when a file is damaged, or none exists and the archive cannot be downloaded
 */
export async function cifar10(source: DataSource): Promise<Splits> {
  const files = (await readBatchFolder(source)) ?? (await readArchive(await obtainFile(archive, 'cifar10', source)));
  const training = trainingFiles.flatMap((name) => files.get(name) ?? []);
  const test = files.get(testFile);
  return createSplits({
    train: decode('CIFAR-10', training, 50_000),
    test: test && decode('CIFAR-10 test', [test], 10_000),
  });
}

/** The batch files of the first folder that has a training batch, by name; null if none has. */
async function readBatchFolder(source: DataSource): Promise<Map<string, BatchFile> | null> {
  for (const folder of placesOf(source, 'cifar10').flatMap((place) => [place, join(place, batchFolder)])) {
    const files = new Map<string, BatchFile>();
    for (const name of [...trainingFiles, testFile]) {
      const path = join(folder, name);
      if ((await sizeOf(path)) !== null) files.set(name, { source: path, bytes: await readFile(path) });
    }
    if (trainingFiles.some((name) => files.has(name))) return files;
  }
  return null;
}

async function readArchive(path: string): Promise<Map<string, BatchFile>> {
  const files = new Map<string, BatchFile>();
  try {
    await pipeline(createReadStream(path), createGunzip(), async (chunks: AsyncIterable<Buffer>) => {
      for await (const { name, bytes } of readTar(chunks)) {
        files.set(basename(name), { source: `${path}, ${name}`, bytes });
      }
    });
  } catch (error) {
    throw damaged(path, reasonOf(error), error);
  }
  if (!trainingFiles.some((name) => files.has(name))) {
    throw damaged(path, `it holds none of ${trainingFiles.join(', ')} but ${[...files.keys()].join(', ')}`);
  }
  return files;
}

/** Decodes records (a label byte, then planes of 1,024 bytes for R, G and B) to labels and interleaved pixels. */
function decode(name: string, files: readonly BatchFile[], officialCount: number): Dataset {
  files.forEach(checkLength);
  const count = files.reduce((sum, { bytes }) => sum + bytes.length / recordBytes, 0);
  const features = new Uint8Array(count * imageBytes);
  const targets = new Int32Array(count);
  let sample = 0;
  for (const { source, bytes } of files) {
    for (let record = 0; record < bytes.length; record += recordBytes, sample++) {
      targets[sample] = checkedLabel(source, bytes, record);
      interleave(bytes, record + 1, features, sample * imageBytes);
    }
  }
  const shortened =
    count === officialCount ? '' : ` (${count.toLocaleString('en')} of ${officialCount.toLocaleString('en')} images)`;
  return createDataset({
    name: name + shortened,
    featureShape: [32, 32, 3],
    features,
    targets,
    classNames,
    normalization,
  });
}

function interleave(planes: Uint8Array, from: number, pixels: Uint8Array, to: number): void {
  for (let pixel = 0; pixel < planePixels; pixel++) {
    pixels[to + 3 * pixel] = planes[from + pixel];
    pixels[to + 3 * pixel + 1] = planes[from + planePixels + pixel];
    pixels[to + 3 * pixel + 2] = planes[from + 2 * planePixels + pixel];
  }
}

function checkLength({ source, bytes }: BatchFile): void {
  if (bytes.length === 0 || bytes.length % recordBytes !== 0) {
    throw damaged(source, `it has ${byteCount(bytes.length)}, which are not one or more records of ${recordBytes}`);
  }
}

function checkedLabel(source: string, bytes: Buffer, record: number): number {
  const label = bytes[record];
  if (label >= classNames.length) {
    throw damaged(source, `record ${record / recordBytes} (byte ${record}) has label ${label}, labels are 0 to 9`);
  }
  return label;
}

function damaged(source: string, finding: string, cause?: unknown): Error {
  return new Error(
    `${source} is truncated or corrupt: ${finding}. Delete it, and the archive is downloaded again, or put an ` +
      'intact copy in its place.',
    { cause },
  );
}
