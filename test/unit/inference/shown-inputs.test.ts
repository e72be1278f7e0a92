import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import type { InputPart } from '../../../core/ensemble/sample-inputs.ts';
import { encodeSafetensors } from '../../../core/safetensors/safetensors.ts';
import { createDataset, type Dataset, subset } from '../../../workers/data/dataset.ts';
import { fitTokenizer, textDataset } from '../../../workers/data/index.ts';
import { createSourceDataset } from '../../../workers/data/streams/source-dataset.ts';
import { readTable } from '../../../workers/data/tables/read-table.ts';
import { tableSplits } from '../../../workers/data/tables/table-splits.ts';
import { inputParts } from '../../../workers/inference/input-parts.ts';
import { SampleReader } from '../../../workers/inference/sample-reader.ts';
import { temporaryFolder } from '../data/temp-folder.ts';

const samplesOf = (featureShape: number[], features: Float32Array | Uint8Array, length = 1): Dataset =>
  createDataset({ name: 'shown', featureShape, features, targets: new Int32Array(length) });

async function onlyPart(dataset: Dataset, sample = 0): Promise<InputPart> {
  const parts = await inputParts(dataset, null, sample);
  expect(parts).toHaveLength(1);
  return parts[0];
}

/** The pixels of a part, as another program decodes its file. */
async function pixelsOf(part: InputPart) {
  if (part.kind !== 'image') throw new Error(`It is ${part.kind}, not an image.`);
  const { data, info } = await sharp(Buffer.from(part.png)).raw().toBuffer({ resolveWithObject: true });
  return { pixels: [...data], width: info.width, height: info.height, channels: info.channels };
}

describe('what a sample shows of its input', () => {
  it('the row of the table, with missing values and categories that training lacks', async () => {
    const file = join(await temporaryFolder(), 'people.csv');
    const rows = [
      'age,port,alone,born,note,class',
      '31.5,C,true,2001-02-03,on deck,a',
      ',S,false,1999-12-31,,b',
      '1234567,X,true,2020-02-29 13:45,below deck,a',
      '4.25,Q,false,1970-01-01,in the hold,b',
    ];
    await writeFile(file, `${rows.join('\n')}\n`);
    const table = await readTable(file, { columns: { note: 'text', port: 'category' } });
    const splits = tableSplits(table, {
      seed: 3,
      test: 1,
      missing: { age: 'impute', note: 'impute' },
      text: { note: { length: 4, kind: 'word' } },
    });
    const preprocessing = splits.preprocessing ?? null;
    const shown: InputPart[][] = [];
    for (const dataset of [splits.train, splits.test as Dataset]) {
      for (let sample = 0; sample < dataset.length; sample++) {
        shown.push(await inputParts(dataset, preprocessing, sample));
      }
    }
    const row = (age: number | null, port: string, alone: string, born: string) => ({
      kind: 'row',
      name: null,
      hidden: 0,
      fields: [
        { name: 'age', value: age },
        { name: 'port', value: port },
        { name: 'alone', value: alone },
        { name: 'born', value: born },
      ],
    });
    const texts = (text: string) => ({ kind: 'text', name: 'note', text });
    // The fourth row is the test split: training has neither its port nor its word "below".
    expect(shown).toEqual([
      [row(31.5, 'C', 'true', '2001-02-03'), texts('on deck')],
      [row(null, 'S', 'false', '1999-12-31'), texts('')],
      [row(4.25, 'Q', 'false', '1970-01-01'), texts('in the hold')],
      [row(1_234_570, 'a value that training lacks', 'true', '2020-02-29 13:45'), texts('<unk> deck')],
    ]);
  });

  it('the words of a textDataset, without padding; numbers where a project has made others of the ids', async () => {
    const tokenizer = fitTokenizer(['on deck', 'below deck'], { kind: 'word', size: 10 });
    const texts = ['On deck', 'below the deck'];
    const options = { name: 'texts', targets: Int32Array.of(0, 1), tokenizer, length: 4 };
    for (const padding of ['start', 'end'] as const) {
      const dataset = textDataset({ ...options, texts, padding });
      expect(await onlyPart(dataset, 1)).toEqual({ kind: 'text', name: null, text: 'below <unk> deck' });
      expect(await onlyPart(subset(dataset, Int32Array.of(1, 0)), 1)).toMatchObject({ text: 'on deck' });
      const shifted = createDataset({ ...dataset, features: Float32Array.from(dataset.features, (id) => id + 0.5) });
      expect(await onlyPart(shifted)).toMatchObject({ kind: 'row' });
    }
  });

  it('an image of bytes as it is, also one that was flattened', async () => {
    const grey = Uint8Array.from({ length: 64 }, (_, i) => 4 * i);
    const flat = samplesOf([64], Uint8Array.of(...new Uint8Array(64), ...grey), 2);
    const part = await onlyPart(flat, 1);
    expect(part).toMatchObject({ kind: 'image', height: 8, width: 8 });
    expect((await pixelsOf(part)).pixels.filter((_, i, all) => i % (all.length / 64) === 0)).toEqual([...grey]);
    const colours = Uint8Array.from({ length: 2 * 3 * 3 }, (_, i) => 10 * i);
    const rgb = await pixelsOf(await onlyPart(samplesOf([2, 3, 3], colours)));
    expect(rgb).toEqual({ pixels: [...colours], width: 3, height: 2, channels: 3 });
    expect(await onlyPart(samplesOf([192], new Uint8Array(192)))).toMatchObject({ height: 8, width: 8 });
  });

  it('an image of other values from 0 to 1, or over their range; NaN is black', async () => {
    const within = await pixelsOf(
      await onlyPart(samplesOf([1, 4, 3], Float32Array.of(0, 0.2, 1, ...new Float32Array(9)))),
    );
    expect(within.pixels.slice(0, 3)).toEqual([0, 51, 255]);
    const values = Float32Array.of(-1, 0, 1, NaN, 3, 3, 3, 3, 3, 3, 3, 3);
    expect((await pixelsOf(await onlyPart(samplesOf([2, 2, 3], values)))).pixels.slice(0, 4)).toEqual([0, 64, 128, 0]);
  });

  it('a large image at most 512 pixels wide, with its own size', async () => {
    const part = await onlyPart(samplesOf([100, 1024, 1], new Uint8Array(102_400)));
    expect(part).toMatchObject({ height: 100, width: 1024 });
    expect(await pixelsOf(part)).toMatchObject({ width: 512, height: 50 });
  });

  it('series of some channels, and short vectors as numbers', async () => {
    const values = Float32Array.of(1, 2, 3, 4, 5, 6);
    expect(await onlyPart(samplesOf([3, 2], values))).toEqual({
      kind: 'series',
      name: null,
      steps: 3,
      channels: 2,
      values,
    });
    expect(await onlyPart(samplesOf([2], values, 3), 2)).toEqual({
      kind: 'row',
      name: null,
      hidden: 0,
      fields: [
        { name: 'x0', value: 5 },
        { name: 'x1', value: 6 },
      ],
    });
    expect(await onlyPart(samplesOf([65], new Float32Array(65)))).toMatchObject({
      kind: 'series',
      steps: 65,
      channels: 1,
    });
    expect(await onlyPart(samplesOf([2, 2, 2, 1], new Float32Array(8)))).toMatchObject({
      kind: 'row',
      fields: [{ name: 'shape', value: '2 × 2 × 2 × 1' }],
    });
  });

  it('further inputs by their names', async () => {
    const dataset = createDataset({
      ...samplesOf([1], Float32Array.of(7, 8), 2),
      extraInputs: { ids: { shape: [2], values: Int32Array.of(1, 2, 3, 4) } },
    });
    expect(
      (await inputParts(dataset, null, 1)).map(({ name, ...part }) => [name, 'fields' in part && part.fields]),
    ).toEqual([
      [null, [{ name: 'x0', value: 8 }]],
      ['ids', [{ name: 'x0', value: 3 }, { name: 'x1', value: 4 }]], // prettier-ignore
    ]);
  });
});

describe('the samples of a run', () => {
  async function runWith(targets: Int32Array<ArrayBuffer>): Promise<string> {
    const folder = await temporaryFolder();
    await mkdir(join(folder, 'predictions', 'validation'), { recursive: true });
    const file = encodeSafetensors([{ name: 'targets', dtype: 'I32', shape: [targets.length], data: targets }]);
    await writeFile(join(folder, 'predictions', 'validation', 'targets.safetensors'), file);
    return folder;
  }
  const validation = createSourceDataset({
    name: 'on disk',
    targets: Int32Array.of(0, 1, 1),
    source: {
      length: 3,
      featureShape: [1],
      type: 'float32',
      read: (indices) => Promise.resolve(Float32Array.from(indices, (index) => 10 * index)),
    },
  });
  const data = { train: validation, validation };

  it('are read by their places, also from disk', async () => {
    const reader = new SampleReader(data, await runWith(Int32Array.of(0, 1, 1)));
    const read = await reader.read({ split: 'validation', samples: [2, 0] });
    expect(read.map(({ sample, parts: [part] }) => [sample, part.kind === 'row' && part.fields])).toEqual([
      [2, [{ name: 'x0', value: 20 }]],
      [0, [{ name: 'x0', value: 0 }]],
    ]);
    await expect(reader.read({ split: 'validation', samples: [3] })).rejects.toThrow(
      'The validation split has no sample 3: it has 0 to 2.',
    );
    await expect(reader.read({ split: 'test', samples: [0] })).rejects.toThrow('data has no test split now');
  });

  it('are read once what they are checked by can be read, although it could not before', async () => {
    const folder = await runWith(Int32Array.of(0, 1, 1));
    const [path, away] = ['targets', 'away'].map((name) =>
      join(folder, 'predictions', 'validation', `${name}.safetensors`),
    );
    await rename(path, away);
    const reader = new SampleReader(data, folder);
    await expect(reader.read({ split: 'validation', samples: [0] })).rejects.toThrow('targets.safetensors');
    await rename(away, path);
    expect(await reader.read({ split: 'validation', samples: [0] })).toHaveLength(1);
  });

  it('are refused where the data have changed since the run trained', async () => {
    const read = async (targets: Int32Array<ArrayBuffer>) =>
      new SampleReader(data, await runWith(targets)).read({ split: 'validation', samples: [0] });
    await expect(read(Int32Array.of(0, 1))).rejects.toThrow(
      'The data have changed since the run trained: the validation split has 3 targets now, the run had 2.',
    );
    await expect(read(Int32Array.of(1, 1, 1))).rejects.toThrow('has other values in 1 of 3 targets.');
  });
});
