import type { ChosenFolder } from './upload.ts';

/** The folder that an input gives, of which each file knows its path. */
export function folderOf(files: FileList): ChosenFolder | null {
  const all = [...files].map((file) => ({ parts: file.webkitRelativePath.split('/'), file }));
  if (all.length === 0) return null;
  return { name: all[0].parts[0], files: all.map(({ parts, file }) => ({ path: parts.slice(1).join('/'), file })) };
}

/** The folder that was dropped; null: something else was. To be called while the event is handled. */
export async function droppedFolder({ items }: DataTransfer): Promise<ChosenFolder | null> {
  const entry = items[0]?.webkitGetAsEntry() ?? null;
  if (entry === null || !isFolder(entry)) return null;
  const files = await filesBelow(entry);
  return { name: entry.name, files: files.map((own) => ({ ...own, path: own.path.slice(entry.fullPath.length + 1) })) };
}

const isFolder = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry => entry.isDirectory;
const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile;

async function filesBelow(folder: FileSystemDirectoryEntry): Promise<ChosenFolder['files'][number][]> {
  const reader = folder.createReader();
  const entries: FileSystemEntry[] = [];
  // A browser gives some hundred at a time, and none at the end.
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) break;
    entries.push(...some);
  }
  const found = entries.map(async (entry) => {
    if (isFolder(entry)) return filesBelow(entry);
    if (!isFile(entry)) return [];
    return [{ path: entry.fullPath, file: await new Promise<File>((resolve, reject) => entry.file(resolve, reject)) }];
  });
  return (await Promise.all(found)).flat();
}
