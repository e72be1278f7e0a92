import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { encodeFileVersion, encodeScalars } from '../../../src-main/export/tensorboard.ts';
import { openZipSink } from '../../../src-main/export/sinks.ts';
import { readEventFile } from '../../unit/export/event-reader.ts';
import { readZip } from '../../unit/export/zip-reader.ts';
import type { FuzzTarget } from '../engine/target.ts';
import { text } from './files.ts';

/** Tutti writes event files and ZIPs and reads neither: any content must come back through an independent reader. */

const eventFiles: FuzzTarget = {
  name: 'event-files',
  reads: "TensorBoard's event files: what is written comes back",
  seeds: async () => [Buffer.concat([Buffer.alloc(20, 1), text('train/loss')])],
  run(bytes) {
    const step = bytes.length >= 4 ? bytes.readUInt32LE(0) : 0;
    const value = bytes.length >= 8 ? bytes.readFloatLE(4) : 0;
    const tag = bytes.subarray(8).toString();
    const file = Buffer.concat([encodeFileVersion(1), encodeScalars(2, step, [[tag, value]])]);
    const [, event] = readEventFile(file);
    const [readTag, readValue] = event.scalars[0];
    if (event.step !== step || readTag !== tag || !Object.is(readValue, value))
      throw new RangeError('The event came back changed.');
  },
};

const zip: FuzzTarget = {
  name: 'zip',
  reads: 'ZIP exports: names and contents that are written come back',
  seeds: async () => [text('metrics.csv\nepoch,step\n0,1\n'), text('logs/rank-0.log\n')],
  weight: 0.25,
  async run(bytes) {
    const end = bytes.indexOf(0x0a);
    const [name, content] =
      end < 0 ? [bytes.toString(), Buffer.alloc(0)] : [bytes.toString('utf8', 0, end), bytes.subarray(end + 1)];
    const folder = await mkdtemp(join(tmpdir(), 'tutti-fuzz-'));
    const file = join(folder, 'export.zip');
    try {
      const sink = await openZipSink(file, false);
      try {
        await sink.add({ path: name, compress: true, open: () => Readable.from([content]) });
      } catch (error) {
        await sink.abort(error);
        throw error;
      }
      await sink.finish();
      const [[readName, readContent]] = readZip(await readFile(file));
      if (readName !== name.replaceAll('\\', '/') || !readContent.equals(content))
        throw new RangeError('The file came back changed.');
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};

export const writerTargets = [eventFiles, zip];
