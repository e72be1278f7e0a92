import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type DataFolders, readTable, type Table } from 'tutti-ensembles';

/** A published screen: molecules as SMILES, each of which acts (1) or does not (0). */
export interface Screen {
  name: string;
  /** File in the folder `molecules` of the user's data. */
  file: string;
  url: string;
  /** Rows of the file, and how many of them have the label 1. */
  molecules: number;
  hits: number;
  /** Column of the SMILES; labels are in the last one. */
  smiles: string;
}

export const screens = {
  /**
   * AIDS Antiviral Screen of the US National Cancer Institute, as MoleculeNet publishes it (Wu et al., Chemical Science
   * 2018).
   */
  hiv: {
    name: 'HIV',
    file: 'hiv.csv',
    url: 'https://deepchemdata.s3-us-west-1.amazonaws.com/datasets/HIV.csv',
    molecules: 41_127,
    hits: 1_443,
    smiles: 'smiles',
  },
  /**
   * Cav3 T-type calcium channels, SAID 463087 of Butkiewicz et al. (Molecules 2013), as the Therapeutics Data Commons
   * publish it.
   */
  cav3: {
    name: 'Cav3 T-type calcium channels',
    file: 'cav3.tsv',
    url: 'https://dataverse.harvard.edu/api/access/datafile/6894445',
    molecules: 100_875,
    hits: 703,
    smiles: 'drug',
  },
} satisfies Record<string, Screen>;

/**
 * The SMILES and labels of a table: its column of SMILES by name, else its first column, and its last column.
 * @throws Error for another label than 0 and 1
 */
export function moleculesOf(table: Table, name: string): { smiles: string[]; targets: Int32Array } {
  const texts = table.columns.find((column) => column.name.toLowerCase() === name) ?? table.columns[0];
  const labels = table.columns[table.columns.length - 1];
  const rows = Array.from({ length: table.length }, (_, row) => row);
  const targets = Int32Array.from(rows, (row) => {
    const label = Number(labels.values[row]);
    if (label === 0 || label === 1) return label;
    throw new Error(`Row ${row + 1} of ${table.name} has the label "${labels.values[row]}". Labels are 0 and 1.`);
  });
  return { smiles: rows.map((row) => String(texts.values[row])), targets };
}

/** Checks a downloaded screen. @throws Error if it is another file */
export async function checkScreen(path: string, { name, molecules, hits, smiles, url }: Screen): Promise<void> {
  const { targets } = moleculesOf(await readTable(path), smiles);
  const found = targets.filter((label) => label === 1).length;
  if (targets.length === molecules && found === hits) return;
  throw new Error(
    `${path} holds ${targets.length} molecules with ${found} hits, and the screen ${name} has ${molecules} with ` +
      `${hits}. Remove it, and get the file of ${url}.`,
  );
}

/** Where a screen lies: in `molecules` of the user's data or of the cache; null: nowhere. */
export function findScreen({ file }: Screen, { lookup, cache }: DataFolders): string | null {
  const folders = [lookup, cache].flatMap((folder) => (folder === null ? [] : [join(folder, 'molecules', file)]));
  return folders.find((path) => existsSync(path)) ?? null;
}
