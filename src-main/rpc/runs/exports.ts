import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ExportRequest } from '../../../core/protocol/pages/run-data.ts';
import { runIdSchema } from '../../../core/protocol/run/record.ts';
import { runFileEnding } from '../../../core/protocol/pages/run-data.ts';
import { EXPORT_FORMATS, type ExportFormat } from '../../export/run-entries.ts';
import { homePaths } from '../../store/home.ts';
import type { HubParts } from '../../hub/run-feed.ts';

export interface WrittenExport {
  path: string;
  fileName: string;
  bytes: number;
  warnings: string[];
}

/** Writes a run, or a part of it, as one ZIP in Tutti's home. Replaces an earlier export. */
export async function writeExport(
  { hub }: HubParts,
  id: string,
  { formats, checkpoints }: ExportRequest,
): Promise<WrittenExport> {
  const known = formats.filter(isFormat);
  if (known.length < formats.length) {
    const unknown = formats.find((format) => !isFormat(format));
    throw new Error(`There is no export format "${unknown}". The formats are ${EXPORT_FORMATS.join(', ')}.`);
  }
  const run = await hub.find(id);
  // The index may be older than the rule for ids.
  const ending = known.includes('run') ? runFileEnding : '.zip';
  const fileName = `${runIdSchema.parse(run.id)}${ending}`;
  const path = join(homePaths().exports, fileName);
  const { warnings, skipped } = await hub.export(run.folder, {
    to: path,
    zip: true,
    overwrite: true,
    ...(known.length === 0 ? {} : { formats: known }),
    ...(checkpoints === null ? {} : { checkpoints }),
  });
  const leftOut = skipped.map((file) => `${file.path} was left out: ${file.reason}.`);
  return { path, fileName, bytes: (await stat(path)).size, warnings: [...warnings, ...leftOut] };
}

function isFormat(name: string): name is ExportFormat {
  return EXPORT_FORMATS.some((format) => format === name);
}
