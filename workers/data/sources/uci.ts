import type { Dataset } from '../dataset.ts';
import { readTable } from '../tables/read-table.ts';
import { tableDataset } from '../tables/table-splits.ts';
import type { DataFolders } from './locate.ts';
import { findFile, placesOf, whereToPut } from './locate.ts';

const uciNames = ['concrete', 'energy', 'kin8nm', 'power', 'wine', 'yacht'] as const;
/** Names of the UCI regression tables. */
export type UciName = (typeof uciNames)[number];

/**
 * Reads a regression table of the UCI Machine Learning Repository from `uci/<name>.txt` in the data folders: numbers separated
 * by white space, with the target in the last column. There is no official download in this form.
 *
 * @throws Error that says where to put the file if it is missing
 */
export async function uciTable(name: UciName, folders: DataFolders): Promise<Dataset> {
  if (!uciNames.includes(name)) {
    throw new Error(`UCI table "${name}" is not known; choose one of ${uciNames.join(', ')}, or use readTable(file).`);
  }
  const path = await findFile(placesOf(folders, 'uci'), [`${name}.txt`]);
  if (path === null) {
    throw new Error(
      `UCI table "${name}" was not found, and there is no official download. Put ${name}.txt (numbers separated by ` +
        `white space, target last) ${whereToPut(folders, 'uci')}.`,
    );
  }
  return tableDataset(await readTable(path, { name }));
}
