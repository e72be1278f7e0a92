import { labelsFile } from '../../core/protocol/run/labels.ts';
import { fileEntries, listFiles, type Skip } from './file-entries.ts';
import type { ExportEntry } from './sinks.ts';

const files = ['metrics.csv', 'devices.csv', 'notes.json', labelsFile];
const folders = ['models', 'state', 'predictions', 'sources', 'origin'] as const;

/** The files of a run that it needs elsewhere and that no other format has, unchanged. What earlier attempts left is not among them. */
export async function* wholeRunEntries(folder: string, skip: Skip): AsyncGenerator<ExportEntry> {
  yield* fileEntries(folder, files, skip);
  for (const name of folders) yield* fileEntries(folder, await listFiles(folder, name, skip), skip);
}
