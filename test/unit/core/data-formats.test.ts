import { describe, expect, it } from 'vitest';
import {
  dataFormatOf,
  dataFormats,
  endingsWith,
  isTableName,
  sampleEndingsFor,
} from '../../../core/preprocessing/data-formats.ts';

describe('formats of files with samples', () => {
  it.each([
    ['houses.csv', 'CSV'],
    ['a.b/My Rows.TSV', 'TSV'],
    ['x.ndjson', 'JSON lines'],
    ['x.json', 'JSON'],
    ['x.feather', 'Arrow'],
    ['reviews.txt', 'lines'],
    ['x.npy', 'NumPy array'],
    ['cat.JPEG', 'JPEG'],
    ['table.dat', undefined],
    ['folder.csv/table', undefined],
    ['.csv', undefined],
    ['csv', undefined],
  ])('%s is of the format %s', (file, name) => {
    expect(dataFormatOf(file)?.name).toBe(name);
  });

  it.each([
    ['houses.csv', true],
    ['C:\\data\\Houses.CSV.GZ', true],
    ['houses.parquet.zip', true],
    ['houses.zip', false],
    ['reviews.txt', false],
    ['run.tutti', false],
    ['folder', false],
  ])('%s is the name of a table: %s', (name, isTable) => {
    expect(isTableName(name)).toBe(isTable);
  });

  it('share no ending', () => {
    const endings = dataFormats.flatMap((format): readonly string[] => format.endings);
    expect(new Set(endings).size).toBe(endings.length);
  });

  it('name the files that pages send to an ensemble of images, and to another', () => {
    const images = ['png', 'jpg', 'jpeg', 'webp', 'tif', 'tiff'];
    expect(sampleEndingsFor({ takesImages: true })).toEqual(['npy', ...images]);
    expect(sampleEndingsFor({ takesImages: false })).toEqual([
      'csv',
      'tsv',
      'xlsx',
      'xlsm',
      'jsonl',
      'ndjson',
      'json',
      'txt',
      'npy',
    ]);
    expect(endingsWith('arrays')).toEqual(['.npy', '.npz', '.safetensors']);
  });
});
