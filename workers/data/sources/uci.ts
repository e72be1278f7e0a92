import type { Dataset } from '../dataset.ts';
import { readTable } from '../tables/read-table.ts';
import { tableDataset } from '../tables/table-splits.ts';
import type { RemoteFile } from './download.ts';
import { type DataSource, findFile, obtainFile, placesOf, whereToPut } from './locate.ts';

const uciNames = ['concrete', 'energy', 'kin8nm', 'power', 'wine', 'yacht'] as const;
/** Names of the UCI regression tables. */
export type UciName = (typeof uciNames)[number];

/** The official tables in a form that `readTable` reads, with the target in the last column. */
const downloads: Partial<Record<UciName, RemoteFile>> = {
  wine: {
    name: 'winequality-red.csv',
    urls: ['https://archive.ics.uci.edu/ml/machine-learning-databases/wine-quality/winequality-red.csv'],
    bytes: 84_199,
    sha256: '4a402cf041b025d4566d954c3b9ba8635a3a8a01e039005d97d6a710278cf05e',
  },
};

/**
 * Reads a regression table of the UCI Machine Learning Repository from `uci/<name>.txt` in the data folders: numbers
 * separated by white space, with the target in the last column. `wine`, the quality of red wines, is downloaded if it
 * is missing; the others have no official download in this form.
 *
 * @throws Error that says where to put the file if it is missing
 */
export async function uciTable(name: UciName, source: DataSource): Promise<Dataset> {
  if (!uciNames.includes(name)) {
    throw new Error(`UCI table "${name}" is not known; choose one of ${uciNames.join(', ')}, or use readTable(file).`);
  }
  return tableDataset(await readTable(await fileOf(name, source), { name }));
}

async function fileOf(name: UciName, source: DataSource): Promise<string> {
  const path = await findFile(placesOf(source, 'uci'), [`${name}.txt`]);
  if (path !== null) return path;
  const official = downloads[name];
  if (official !== undefined) return obtainFile(official, 'uci', source);
  throw new Error(
    `UCI table "${name}" was not found, and there is no official download. Put ${name}.txt (numbers separated by ` +
      `white space, target last) ${whereToPut(source, 'uci')}.`,
  );
}
