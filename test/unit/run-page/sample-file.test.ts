import { describe, expect, it } from 'vitest';
import type { SampleField, SampleForm } from '../../../core/protocol/pages/new-samples.ts';
import { endingsFor, readSampleFile, rowFile } from '../../../src-renderer/views/run/predict/sample-file.ts';

const field = (name: string, type: SampleField['type'], isOptional = false): SampleField => ({
  name,
  type,
  categories: [],
  mean: null,
  isOptional,
});
const fields = [
  field('fare', 'number'),
  field('alone', 'boolean'),
  field('age', 'number', true),
  field('port', 'category'),
];
const form: SampleForm = { set: 'final', ranks: [0, 1], fields, takesImages: false };

describe('a filled-in row', () => {
  it('becomes one JSON line with values of the types of its columns', () => {
    const { ending, bytes } = rowFile(fields, { fare: '7.25', alone: 'false', age: '', port: '3' });
    expect(ending).toBe('jsonl');
    expect(new TextDecoder().decode(bytes)).toBe('{"fare":7.25,"alone":false,"age":null,"port":"3"}\n');
  });

  it('names the field without a value, or without a number', () => {
    expect(() => rowFile(fields, { alone: 'true' })).toThrow('"fare" has no value');
    expect(() => rowFile(fields, { fare: 'much' })).toThrow('"fare" is "much", which is not a number');
  });
});

describe('a chosen file', () => {
  it('is sent with its ending', async () => {
    const sent = await readSampleFile(new File(['a,b\n1,2\n'], 'My Rows.CSV'), form);
    expect(sent.ending).toBe('csv');
    expect(new TextDecoder().decode(sent.bytes)).toBe('a,b\n1,2\n');
  });

  it.each([
    ['another kind', new File(['x'], 'cat.png'), 'cat.png is not a file that this ensemble takes here'],
    ['no ending', new File(['x'], 'csv2'), 'Choose one of csv, tsv'],
    ['nothing in it', new File([], 'a.csv'), 'a.csv is empty'],
    ['too many bytes', new File([new Uint8Array(1_000_001)], 'a.csv'), 'a page may send 977 KiB'],
  ])('is refused: %s', async (_what, file, message) => {
    await expect(readSampleFile(file, form)).rejects.toThrow(message);
  });

  it('is an image where the ensemble takes images', () => {
    expect(endingsFor({ ...form, takesImages: true })).toEqual(['npy', 'png', 'jpg', 'jpeg', 'webp', 'tif', 'tiff']);
  });
});
