import { gzipSync } from 'node:zlib';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cifar10 } from '../../../workers/data/sources/cifar10.ts';
import { readIdx } from '../../../workers/data/sources/idx.ts';
import { parseTable } from '../../../workers/data/tables/read-table.ts';
import { tableDataset, tableSplits } from '../../../workers/data/tables/table-splits.ts';
import { parseArrays } from '../../../workers/data/read-arrays.ts';
import { decodeImage } from '../../../workers/data/images/decode.ts';
import { readTar } from '../../../workers/data/sources/tar.ts';
import { decodeSplits, encodeSplits } from '../../../workers/data/share.ts';
import { createSplits } from '../../../workers/data/dataset.ts';
import { readDescription } from '../../../workers/inference/assemble.ts';
import { folderFiles } from '../../../workers/inference/open-ensemble.ts';
import { openZip } from '../../../workers/data/tables/unpack.ts';
import { calculated, dated, failed, sheetBytes, workbookBytes } from '../../unit/data/workbook-bytes.ts';
import type { FuzzTarget } from '../engine/target.ts';
import { fileTarget, json, text } from './files.ts';

const samples = new URL('../../samples/', import.meta.url);
const record = Buffer.alloc(3073, 7);

const idx = fileTarget({
  name: 'idx',
  reads: 'IDX files of MNIST, plain and compressed',
  path: 'labels-idx1-ubyte.gz',
  seeds: async () => {
    const plain = Buffer.from([0, 0, 8, 1, 0, 0, 0, 4, 7, 2, 1, 0]);
    return [plain, gzipSync(plain), await readFile(new URL('mnist/t10k-labels-idx1-ubyte.gz', samples))];
  },
  read: (_folder, file) => readIdx(file, 1),
});

const cifar = fileTarget({
  name: 'cifar10',
  reads: 'batch files of CIFAR-10',
  path: 'data_batch_1.bin',
  seeds: async () => [record, Buffer.concat([record, record])],
  read: (folder) => cifar10({ lookup: null, cache: folder }),
  weight: 0.25,
});

const cifarArchive = fileTarget({
  name: 'cifar10-archive',
  reads: 'the compressed archive of CIFAR-10',
  path: join('cifar10', 'cifar-10-binary.tar.gz'),
  seeds: async () => [gzipSync(tarOf('cifar-10-batches-bin/data_batch_1.bin', record))],
  read: (folder) => cifar10({ lookup: null, cache: folder }),
  weight: 0.25,
});

/** A ustar archive with one file. */
function tarOf(name: string, bytes: Buffer): Buffer {
  const header = Buffer.alloc(512);
  header.write(name, 0, 'latin1');
  header.write(`${bytes.length.toString(8).padStart(11, '0')}\0`, 124);
  header.write('0', 156);
  header.write('ustar\u000000', 257, 'latin1');
  header.fill(' ', 148, 156);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  const padding = Buffer.alloc((512 - (bytes.length % 512)) % 512);
  return Buffer.concat([header, bytes, padding, Buffer.alloc(1024)]);
}

/** Sets the checksums of the headers, without which hardly any changed archive is read beyond its first block. */
function withChecksums(archive: Buffer): Buffer {
  const copy = Buffer.from(archive);
  const size = (at: number): number => Number.parseInt(copy.toString('latin1', at + 124, at + 136), 8);
  for (let at = 0; at + 512 <= copy.length && copy[at] !== 0;) {
    copy.fill(' ', at + 148, at + 156);
    const sum = copy.subarray(at, at + 512).reduce((total, byte) => total + byte, 0);
    copy.write(`${sum.toString(8).padStart(6, '0')}\0 `, at + 148);
    const bytes = size(at);
    at += 512 * (1 + (bytes > 0 && bytes < copy.length ? Math.ceil(bytes / 512) : 0));
  }
  return copy;
}

const tar: FuzzTarget = {
  name: 'tar',
  reads: 'tar archives with valid checksums of their headers',
  seeds: async () => [
    tarOf('a/b.bin', Buffer.from('hello')),
    Buffer.concat([tarOf('a', record).subarray(0, 4096), tarOf('b', record)]),
  ],
  async run(bytes) {
    const archive = withChecksums(bytes);
    async function* chunks(): AsyncGenerator<Buffer> {
      for (let at = 0; at < archive.length; at += 1000) yield archive.subarray(at, at + 1000);
    }
    for await (const { name } of readTar(chunks())) if (name.length > 100) throw new RangeError('A long name.');
  },
};

/** Reads a table, and splits it as a project would. */
async function readAsProject(bytes: Buffer, file: string): Promise<void> {
  const table = await parseTable(bytes, file);
  if (table.length < 4) return;
  tableSplits(table, { seed: 1, test: 1, missing: 'impute', targetKind: 'classes' });
}

const table: FuzzTarget = {
  name: 'csv',
  reads: 'tables of text in columns, all delimiters',
  seeds: async () => [
    text('x,y\n1,2\n3,4\n'),
    text('1.5 2 3\r\n4 5 6\r\n'),
    text('"a;b";c\n"1";"2"\n1e-3;-4\n'),
    text('\u{feff}x\ty\r1\t2\r'),
    text('when,size,kind,ok\n2026-01-31,1,a,true\n2026-02-01T10:00:00Z,,b,false\n,3,,true\n2026-02-03,4,a,true\n'),
  ],
  run: (bytes) => readAsProject(bytes, 'table.csv'),
};

const jsonLines: FuzzTarget = {
  name: 'json-lines',
  reads: 'tables of one JSON object a line',
  seeds: async () => [text('{"x":1,"y":"a"}\n{"x":2,"y":"b"}\n{"x":null,"y":"a"}\n{"x":4,"y":"b","z":true}\n')],
  run: (bytes) => readAsProject(bytes, 'table.jsonl'),
};

const ensemble = fileTarget({
  name: 'ensemble.json',
  reads: 'descriptions of exported ensembles',
  path: 'ensemble.json',
  seeds: async () => [
    json({
      format: 1,
      name: 'Wine',
      run: 'run-1',
      set: 'final',
      task: 'regression',
      combination: 'mean',
      classNames: null,
      targetNames: null,
      quantiles: [0.1, 0.9],
      members: [
        {
          rank: 0,
          epoch: 1,
          step: 9,
          model: 'models/a.json',
          weights: 'w.safetensors',
          bytes: 8,
          sha256: 'a'.repeat(64),
        },
      ],
      preprocessing: 'preprocessing.json',
      postprocessing: null,
    }),
  ],
  read: (folder) => readDescription(folderFiles(folder)),
});

const goldenTables = new URL('../../golden/tables/', import.meta.url);

const parquet: FuzzTarget = {
  name: 'parquet',
  reads: 'tables in Parquet files, all compressions and versions of pages',
  seeds: async () => {
    const names = ['passengers.parquet', 'passengers-plain-v2.parquet', 'passengers-zstd.parquet'];
    return Promise.all(names.map((name) => readFile(new URL(name, goldenTables))));
  },
  run: (bytes) => readAsProject(bytes, 'table.parquet'),
  weight: 0.5,
};

const arrow: FuzzTarget = {
  name: 'arrow',
  reads: 'tables in Arrow files, plain and compressed',
  seeds: async () => {
    const names = ['passengers.arrow', 'passengers-zstd.arrow', 'passengers-lz4.arrow', 'types.arrow'];
    return Promise.all(names.map((name) => readFile(new URL(name, goldenTables))));
  },
  run: (bytes) => readAsProject(bytes, 'table.arrow'),
};

const workbookOf = async (): Promise<Buffer> =>
  sheetBytes(
    [
      ['name', 'day', 'x'],
      ['a & b', dated(45_292), 1.5],
      [null, dated(45_293), failed('#N/A')],
      [(place) => `<c r="${place}" t="inlineStr"><is><r><t>c</t></r></is></c>`, null, calculated('C2+1', 2.5)],
    ],
    {
      hiddenRows: [3],
      before: '<cols><col min="2" max="2" hidden="1"/></cols>',
      after: '<mergeCells><mergeCell ref="A2:A3"/></mergeCells>',
    },
  );

const workbook: FuzzTarget = {
  name: 'workbook',
  reads: 'workbooks of Excel, as archives',
  seeds: async () => [await workbookOf()],
  run: (bytes) => readAsProject(bytes, 'table.xlsx'),
  weight: 0.5,
};

const sheet: FuzzTarget = {
  name: 'sheet',
  reads: 'the XML of a sheet in a workbook',
  seeds: async () => [await (await openZip(await workbookOf(), 'table.xlsx')).read('xl/worksheets/sheet1.xml')],
  async run(bytes) {
    const parts = { 'xl/worksheets/sheet1.xml': bytes, 'xl/sharedStrings.xml': '<sst><si><t>a</t></si></sst>' };
    await readAsProject(await workbookBytes({ sheets: [{ name: 's', rows: [] }], parts }), 'table.xlsx');
  },
};

const goldenArrays = new URL('../../golden/arrays/', import.meta.url);

const npy: FuzzTarget = {
  name: 'npy',
  reads: 'NumPy arrays',
  seeds: async () => Promise.all(['fortran.npy', 'objects.npy'].map((name) => readFile(new URL(name, goldenArrays)))),
  run: (bytes) => void parseArrays(bytes, 'array.npy'),
};

const npz: FuzzTarget = {
  name: 'npz',
  reads: 'archives of NumPy arrays',
  seeds: async () => Promise.all(['stored.npz', 'deflated.npz'].map((name) => readFile(new URL(name, goldenArrays)))),
  run: (bytes) => void parseArrays(bytes, 'arrays.npz'),
};

const splits: FuzzTarget = {
  name: 'shared-data',
  reads: 'the file in which ranks share a data set, with a valid checksum',
  seeds: async () => {
    const dataset = tableDataset(await parseTable(Buffer.from('x,y\n1,2\n3,4\n'), 'table.csv'));
    return [Buffer.concat(encodeSplits(createSplits({ train: dataset })))];
  },
  async run(bytes) {
    decodeSplits(await sealed(bytes), 'shared.bin');
  },
};

const image: FuzzTarget = {
  name: 'image',
  reads: 'images: PNG, JPEG, WebP and TIFF',
  seeds: async () => {
    const { default: sharp } = await import('sharp');
    const source = sharp({ create: { width: 9, height: 7, channels: 3, background: '#a52' } });
    return Promise.all(
      [source.clone().png(), source.clone().jpeg(), source.clone().webp(), source.clone().tiff()].map((own) =>
        own.toBuffer(),
      ),
    );
  },
  run: async (bytes) => void (await decodeImage(bytes, 'image.png', { size: [4, 4], maximumPixels: 2 ** 20 })),
  weight: 0.25,
};

/** Sets size and CRC-32 at the start of the file, in memory that begins at a multiple of 8 bytes. */
async function sealed(bytes: Buffer): Promise<Buffer<ArrayBuffer>> {
  const { crc32 } = await import('node:zlib');
  const copy = Buffer.from(new ArrayBuffer(bytes.length));
  bytes.copy(copy);
  if (copy.length < 24) return copy;
  copy.writeBigUInt64LE(BigInt(copy.length), 0);
  copy.writeBigUInt64LE(BigInt(crc32(copy.subarray(16))), 8);
  return copy;
}

export const dataTargets = [
  idx,
  cifar,
  cifarArchive,
  tar,
  table,
  jsonLines,
  parquet,
  arrow,
  workbook,
  sheet,
  npy,
  npz,
  splits,
  image,
  ensemble,
];
