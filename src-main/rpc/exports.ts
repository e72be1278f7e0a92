import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { EXPORT_FORMATS, type ExportFormat } from '../export/run-entries.ts';
import { homePaths } from '../store/home.ts';
import type { HubParts } from './parts.ts';

/** Writes a run as one ZIP below Tutti's home, in place of an earlier one; no formats means all. */
export async function writeExport(
  { hub }: HubParts,
  id: string,
  formats: readonly string[],
): Promise<{ path: string; fileName: string; bytes: number }> {
  const known = formats.filter(isFormat);
  if (known.length < formats.length) {
    const unknown = formats.find((format) => !isFormat(format));
    throw new Error(`There is no export format "${unknown}". The formats are ${EXPORT_FORMATS.join(', ')}.`);
  }
  const run = await hub.find(id);
  const fileName = `${run.id}.zip`;
  const path = join(homePaths().exports, fileName);
  const options = { to: path, zip: true, overwrite: true };
  await hub.export(run.folder, known.length === 0 ? options : { ...options, formats: known });
  return { path, fileName, bytes: (await stat(path)).size };
}

function isFormat(name: string): name is ExportFormat {
  return EXPORT_FORMATS.some((format) => format === name);
}
