import { readdir, stat } from 'node:fs/promises';
import { extname, join, relative } from 'node:path';
import { dataFormatOf, endingsWith, formatsWith, isOfSystem } from '../../../core/preprocessing/data-formats.ts';
import { noteData } from '../notes.ts';

/** Images of one split with their classes. */
export interface LabelledFiles {
  /** Absolute or relative paths of the N images. */
  files: string[];
  /** Class of each image, by its name. */
  classes: string[];
}

const readFormats = new Intl.ListFormat('en-GB').format(formatsWith('image'));
const mostListed = 3;

/**
 * The images of `<folder>/<class>/`, also in folders below it, sorted by their paths; notes which other files are left
 * out.
 * @throws Error if a class has none
 */
export async function listClasses(folder: string): Promise<LabelledFiles> {
  const { folders, files } = await entriesOf(folder);
  if (folders.length === 0) {
    throw new Error(`${folder} has no subfolders: put the images of each class into a subfolder of its name.`);
  }
  const found = await Promise.all(folders.map((name) => findFiles(join(folder, name))));
  const empty = folders.findIndex((_, i) => found[i].images.length === 0);
  if (empty >= 0) {
    const { others } = found[empty];
    throw new Error(
      `${join(folder, folders[empty])} has no images ` +
        `(${endingsWith('image').join(', ')})${others.length === 0 ? '' : `, but ${countByEnding(others)}`}. Remove the ` +
        'folder, or add images of the class.',
    );
  }
  const others = found.flatMap((own) => own.others);
  noteLeftOut(folder, others);
  const loose = files.filter(isImage);
  if (loose.length > 0) {
    noteData(
      `Images of ${folder} that lie beside the folders of the classes are left out: ${loose.length} ` +
        `(${listed(loose)}). Move them into one.`,
    );
  }
  return {
    files: found.flatMap(({ images }) => images),
    classes: folders.flatMap((name, i) => found[i].images.map(() => name)),
  };
}

/** All images in a folder and below it, sorted by their paths; notes which other files are left out. */
export async function listImages(folder: string): Promise<string[]> {
  const { images, others } = await findFiles(folder);
  noteLeftOut(folder, others);
  return images;
}

/** The subfolders and files of a folder, sorted, without hidden ones. A link counts as what it leads to. */
export async function entriesOf(folder: string): Promise<{ folders: string[]; files: string[] }> {
  const entries = (await readdir(folder, { withFileTypes: true })).filter(({ name }) => !isOfSystem(name));
  const areFolders = await Promise.all(
    entries.map(async (entry) =>
      entry.isSymbolicLink() ? (await stat(join(folder, entry.name))).isDirectory() : entry.isDirectory(),
    ),
  );
  const namesOf = (areWanted: boolean) =>
    entries
      .filter((_, i) => areFolders[i] === areWanted)
      .map(({ name }) => name)
      .sort();
  return { folders: namesOf(true), files: namesOf(false) };
}

/** Whether the file's ending is that of an image that is read. */
export function isImage(name: string): boolean {
  return dataFormatOf(name)?.holds === 'image';
}

/** All files in a folder and below it, sorted by their paths, without hidden ones. */
export async function findFiles(folder: string): Promise<{ images: string[]; others: string[] }> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((path) => !path.split(/[\\/]/).some(isOfSystem))
    .sort()
    .map((path) => join(folder, path));
  return { images: paths.filter(isImage), others: paths.filter((path) => !isImage(path)) };
}

function noteLeftOut(folder: string, others: readonly string[]): void {
  if (others.length === 0) return;
  const names = listed(others.map((path) => relative(folder, path)));
  noteData(
    `Files of ${folder} that are left out, because only ${readFormats} are read: ${countByEnding(others)} ` +
      `(${names}). Convert those that are images.`,
  );
}

/** `4 .bmp, 4 .gif` */
function countByEnding(paths: readonly string[]): string {
  const counts = Map.groupBy(paths, (path) => extname(path).toLowerCase() || 'without an ending');
  return [...counts].map(([ending, { length }]) => `${length} ${ending}`).join(', ');
}

function listed(names: readonly string[]): string {
  return names.slice(0, mostListed).join(', ') + (names.length > mostListed ? ', ...' : '');
}
