import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { measureApp, mostAppBytes, totalBytes } from '../../scripts/package/app-parts.ts';
import { buildDeb } from '../../test/environment/package/build-deb.ts';
import { type Figure, figure, type Suite } from '../figures.ts';

/** The size of the packaged app for Linux on x64, unpacked, with the Electron of the tests. */
export const suite: Suite = {
  name: 'package',
  async run(note) {
    note('packing the built app');
    const output = await mkdtemp(join(tmpdir(), 'tutti-size-'));
    try {
      const parts = await measureApp((await buildDeb(output)).app);
      const of = (name: string, bytes: number, target: number | null): Figure =>
        figure({ suite: 'package', name, value: bytes / 1e6, unit: 'MB', better: 'lower', target });
      const largestFirst = [...parts].sort(([, a], [, b]) => b - a);
      return [
        of('all files', totalBytes(parts), mostAppBytes / 1e6),
        ...largestFirst.map(([name, bytes]) => of(name, bytes, null)),
      ];
    } finally {
      await rm(output, { recursive: true });
    }
  },
};
