import { EXPORT_FORMATS, type ExportFormat } from '../../export/run-entries.ts';
import { runFileEnding } from '../../../core/protocol/pages/run-data.ts';
import { orUsageError, UsageError, exitCodes } from '../errors.ts';
import { withHub } from '../open-hub.ts';

export interface ExportArguments {
  to: string;
  zip?: boolean;
  overwrite?: boolean;
  format: string[];
  set?: string;
}

/** `tutti export <run> --to <path>`. @returns the exit code */
export function exportRun(run: string, { to, zip, overwrite = false, format, set }: ExportArguments): Promise<number> {
  const formats = format.length === 0 ? undefined : format.flatMap((list) => list.split(',')).map(parseFormat);
  return withHub(async (hub) => {
    const { folder } = await orUsageError(hub.find(run));
    const report = await hub.export(folder, { to, zip: zip ?? isArchiveName(to), overwrite, formats, set });
    for (const { path, reason } of report.skipped) console.error(`left out ${path}: ${reason}`);
    for (const message of report.warnings) console.error(`warning: ${message}`);
    process.stdout.write(`Exported ${report.paths.length} files to ${report.to}\n`);
    return exitCodes.finished;
  });
}

function isArchiveName(name: string): boolean {
  return ['.zip', runFileEnding].some((ending) => name.endsWith(ending));
}

function parseFormat(text: string): ExportFormat {
  const format = EXPORT_FORMATS.find((name) => name === text);
  if (format !== undefined) return format;
  throw new UsageError(`--format "${text}": it must be one of ${EXPORT_FORMATS.join(', ')}.`);
}
