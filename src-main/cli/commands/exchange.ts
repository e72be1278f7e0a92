import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import packageJson from '../../../package.json' with { type: 'json' };
import { runFileEnding } from '../../../core/protocol/pages/run-data.ts';
import { formatBytes } from '../../../core/text/numbers.ts';
import { buildIfStale, out } from '../../built/build.ts';
import { EXPORT_FORMATS, type ExportFormat } from '../../export/run-entries.ts';
import { RunPresentError } from '../../import/import-run.ts';
import { writeReport } from '../../report/write-report.ts';
import { exitCodes, orUsageError, toUsageError, UsageError } from '../errors.ts';
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

export interface ImportArguments {
  into?: string;
}

/** `tutti import <file>`. @returns the exit code */
export function importRun(file: string, { into }: ImportArguments): Promise<number> {
  return withHub(async (hub) => {
    const { run, leftOut } = await hub.import(file, { into }).catch((error: unknown) => {
      throw error instanceof RunPresentError ? toUsageError(error) : error;
    });
    if (leftOut.length > 0) console.error(`left out ${leftOut.length} files that are not part of a run`);
    process.stdout.write(`Imported the run ${run.id} ("${run.name}") to ${run.folder}\n`);
    if (!existsSync(run.projectFolder))
      process.stdout.write(`Its project ${run.projectFolder} is not here: the run can be read, but not resumed.\n`);
    return exitCodes.finished;
  });
}

export interface ReportArguments {
  output?: string;
  overwrite?: boolean;
}

/** `tutti report <run>`. @returns the exit code */
export function report(run: string, { output, overwrite = false }: ReportArguments): Promise<number> {
  return withHub(async (hub) => {
    const { id } = await orUsageError(hub.find(run));
    const to = resolve(output ?? `${id}.html`);
    await buildIfStale();
    const { version } = packageJson;
    const bytes = await writeReport(hub, { id, to, overwrite, pageFolder: join(out, 'report'), version });
    process.stdout.write(`Wrote ${to} (${formatBytes(bytes)})\n`);
    return exitCodes.finished;
  });
}
