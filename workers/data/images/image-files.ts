import { readdir } from 'node:fs/promises';
import { extname, join } from 'node:path';

/** Images of one split with their classes. */
export interface LabelledFiles {
  /** Absolute or relative paths of the N images. */
  files: string[];
  /** Class of each image, by its name. */
  classes: string[];
}

/** Subfolders that hold the splits of a folder of images. */
const splitFolders = { train: ['train'], validation: ['validation', 'val', 'valid'], test: ['test'] } as const;
const endings = new Set(['.png', '.jpg', '.jpeg', '.webp', '.tif', '.tiff']);

/** The images of `<folder>/<class>/`, also in folders below it, sorted by their paths. @throws Error if a class has none */
export async function listClasses(folder: string): Promise<LabelledFiles> {
  const classes = await subfoldersOf(folder);
  if (classes.length === 0) {
    throw new Error(`${folder} has no subfolders: put the images of each class into a subfolder of its name.`);
  }
  const found = await Promise.all(classes.map((name) => listImages(join(folder, name))));
  const empty = classes.find((_, i) => found[i].length === 0);
  if (empty !== undefined) {
    throw new Error(
      `${join(folder, empty)} has no images (${[...endings].join(', ')}). Remove the folder, or add images of the class.`,
    );
  }
  return { files: found.flat(), classes: classes.flatMap((name, i) => found[i].map(() => name)) };
}

/** The folders of the splits in `folder`; null if it has no subfolder `train`. */
export async function findSplitFolders(
  folder: string,
): Promise<{ train: string; validation?: string; test?: string } | null> {
  const subfolders = await subfoldersOf(folder);
  const folderOf = (names: readonly string[]) => {
    const name = names.find((own) => subfolders.includes(own));
    return name === undefined ? undefined : join(folder, name);
  };
  const train = folderOf(splitFolders.train);
  if (train === undefined) return null;
  return { train, validation: folderOf(splitFolders.validation), test: folderOf(splitFolders.test) };
}

async function subfoldersOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  return entries
    .filter((entry) => !entry.isFile() && !entry.name.startsWith('.'))
    .map(({ name }) => name)
    .sort();
}

/** All images in a folder and below it, sorted by their paths. */
export async function listImages(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true });
  return names
    .filter((name) => endings.has(extname(name).toLowerCase()))
    .filter((name) => !name.split(/[\\/]/).some((part) => part.startsWith('.')))
    .sort()
    .map((name) => join(folder, name));
}
