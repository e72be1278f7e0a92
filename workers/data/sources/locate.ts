import { join } from 'node:path';
import { fetchFile } from './download.ts';
import type { DownloadOptions, RemoteFile } from './download.ts';
import { byteCount, reasonOf, sizeOf } from './files.ts';

/** Folders that are searched for data sets, in this order; missing files are downloaded into the cache. */
export interface DataFolders {
  /** The user's folder, `TUTTI_DATA`; its files need not be the official ones. */
  readonly lookup: string | null;
  /** The cache in Tutti's home. */
  readonly cache: string;
}

/** Folders, and how to download missing files. */
export interface DataSource extends DataFolders, DownloadOptions {}

/**
 * The folders to search for a data set's files: `<root>/<collection>`, then `<root>`; first of the lookup folder, then
 * of the cache.
 */
export function placesOf(folders: DataFolders, collection: string): string[] {
  const roots = folders.lookup === null ? [folders.cache] : [folders.lookup, folders.cache];
  return roots.flatMap((root) => [join(root, collection), root]);
}

/** Path of the first file found: any of the names in the first place that has one; null if none has. */
export async function findFile(places: readonly string[], names: readonly string[]): Promise<string | null> {
  for (const place of places) {
    for (const name of names) {
      if ((await sizeOf(join(place, name))) !== null) return join(place, name);
    }
  }
  return null;
}

/**
 * Path of a data set's file. Looks for it in the folders (for a `.gz` also for the unpacked file), else downloads it
 * into the cache.
 * @throws Error that says which file to put where, if it is missing and cannot be downloaded
 */
export async function obtainFile(file: RemoteFile, collection: string, source: DataSource): Promise<string> {
  const found = await findFile(placesOf(source, collection), [file.name, file.name.replace(/\.gz$/, '')]);
  if (found !== null) return found;
  try {
    return await fetchFile({ ...file, folder: join(source.cache, collection) }, source);
  } catch (error) {
    source.signal?.throwIfAborted();
    throw new Error(
      `${reasonOf(error)}\nPut ${file.name} (${byteCount(file.bytes)}) ${whereToPut(source, collection)}.`,
      { cause: error },
    );
  }
}

/** The end of a sentence that tells the user where to put a missing file. */
export function whereToPut({ lookup, cache }: DataFolders, collection: string): string {
  const own =
    lookup === null
      ? `into the subfolder ${collection} of a folder that you name in TUTTI_DATA`
      : `into ${join(lookup, collection)} (TUTTI_DATA is ${lookup})`;
  return `${own}, or into ${join(cache, collection)}`;
}
