import { stat } from 'node:fs/promises';
import { basename, dirname, extname, relative, resolve, sep } from 'node:path';
import type { RowProblem } from '../../../core/preprocessing/image-profile.ts';
import { type ColumnValues, isMissingAt, textAt } from '../tables/columns.ts';
import { findFiles } from './image-files.ts';

/** The images that the rows of a table name. */
export interface NamedImages {
  /** Path of each row's image; null: there is none. Shape `[N]`. */
  files: (string | null)[];
  /** Rows that are samples: each image once. */
  rows: Int32Array;
  /** The other rows, by reason. */
  problems: RowProblem[];
}

interface Folders {
  /** Where the images lie, also in folders below. */
  folder: string;
  /** Where a path may begin too. */
  tableFolder: string;
}

const mostExamples = 5;

/**
 * Finds the image of each row: by its path from one of the folders, or where there is none by its path or its name
 * without the ending, or its name without the folder, among all images below the folder.
 * @param others columns in which the rows of an image must agree
 */
export async function nameImages(
  path: ColumnValues,
  others: readonly ColumnValues[],
  folders: Folders,
): Promise<NamedImages> {
  const problems = new Problems();
  const all = Array.from({ length: path.values.length }, (_, row) => row);
  const exact: (string | null)[] = [];
  for (const row of all) exact.push(isMissingAt(path, row) ? null : await exactFile(textAt(path, row), folders));
  const isListed = exact.some((file, row) => file === null && !isMissingAt(path, row));
  const byName = isListed ? await imagesByName(folders.folder) : new Map<string, Set<string>>();
  const files = exact.map((file, row): string | null => {
    const found = file === null ? [...(byName.get(withSlashes(textAt(path, row))) ?? [])] : [file];
    if (found.length === 1 || isMissingAt(path, row)) return found[0] ?? null;
    problems.add(found.length === 0 ? 'missing' : 'ambiguous', exampleOf(path, row));
    return null;
  });
  const whole = all.filter((row) => {
    const empty = [path, ...others].find((column) => isMissingAt(column, row));
    if (empty !== undefined) problems.add('empty', `${JSON.stringify(empty.name)} in row ${row + 1}`);
    return empty === undefined && files[row] !== null;
  });
  const rows = [...Map.groupBy(whole, (row) => files[row]).values()].flatMap((own) => {
    const [first, ...further] = own;
    const said = (row: number): string => JSON.stringify(others.map((column) => textAt(column, row)));
    const areAlike = further.every((row) => said(row) === said(first));
    for (const row of areAlike ? further : own) {
      problems.add(areAlike ? 'doubled' : 'contradictory', exampleOf(path, row));
    }
    return areAlike ? [first] : [];
  });
  return { files, rows: Int32Array.from(rows), problems: problems.found };
}

const exampleOf = (path: ColumnValues, row: number): string => `${JSON.stringify(textAt(path, row))} in row ${row + 1}`;

async function exactFile(name: string, folders: Folders): Promise<string | null> {
  for (const own of [folders.folder, folders.tableFolder]) {
    const path = resolve(own, withSlashes(name));
    if (await isFile(path)) return path;
  }
  return null;
}

/** Where a process may not look, it finds nothing. */
const absences = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ERR_INVALID_ARG_VALUE', 'ERR_ACCESS_DENIED']);

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch (error) {
    if (absences.has((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
}

/** Paths may have been written on Windows. */
const withSlashes = (path: string): string => path.replaceAll('\\', '/');

/** The images below a folder under what a table may call them: without the ending, without the folder, without both. */
async function imagesByName(folder: string): Promise<Map<string, Set<string>>> {
  const { images, others } = await findFiles(folder);
  // Projects that were written from the table hold copies.
  const projects = others.filter((path) => basename(path) === 'project.ts').map(dirname);
  const copies = projects.filter((own) => own !== folder).map((own) => own + sep);
  const found = new Map<string, Set<string>>();
  for (const image of images.filter((path) => !copies.some((own) => path.startsWith(own)))) {
    const path = relative(folder, image).replaceAll(sep, '/');
    const name = basename(path);
    for (const own of [path, name]) {
      for (const key of [own, own.slice(0, own.length - extname(name).length)]) {
        found.set(key, (found.get(key) ?? new Set()).add(image));
      }
    }
  }
  return found;
}

/** Rows that are no samples, counted by reason. */
class Problems {
  readonly found: RowProblem[] = [];

  add(reason: RowProblem['reason'], example: string): void {
    let own = this.found.find((problem) => problem.reason === reason);
    if (own === undefined) {
      own = { reason, count: 0, examples: [] };
      this.found.push(own);
    }
    own.count++;
    if (own.examples.length < mostExamples) own.examples.push(example);
  }
}
