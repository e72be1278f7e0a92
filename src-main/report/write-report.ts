import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createFileExclusively, writeFileAtomic } from '../../core/node/atomic-file.ts';
import type { Hub } from '../hub/hub.ts';
import { gatherReport } from './gather.ts';
import { type ReportPage, reportHtml } from './html.ts';

export interface ReportRequest {
  /** The run's id. */
  id: string;
  /** The file to write. */
  to: string;
  overwrite: boolean;
  /** The folder of the built page of reports. */
  pageFolder: string;
  version: string;
}

/**
 * Writes a run as one HTML file with everything in it.
 *
 * @returns its size in bytes
 * @throws Error if the file exists and must not be replaced
 */
export async function writeReport(hub: Hub, request: ReportRequest): Promise<number> {
  const page = await readReportPage(request.pageFolder);
  const html = reportHtml(page, await gatherReport(hub, request.id, request.version));
  if (request.overwrite) await writeFileAtomic(request.to, html);
  else if (!(await createFileExclusively(request.to, html))) {
    throw new Error(`${request.to} exists. Choose another --output, or give --overwrite to replace it.`);
  }
  return Buffer.byteLength(html);
}

async function readReportPage(folder: string): Promise<ReportPage> {
  const names = await readdir(folder);
  const read = async (ending: string): Promise<string> => {
    const found = names.filter((name) => name.endsWith(ending));
    if (found.length === 1) return readFile(join(folder, found[0]), 'utf8');
    throw new Error(
      `${folder} has ${found.length} files "*${ending}", but a report needs exactly one: run \`npm run build\`.`,
    );
  };
  return { script: await read('.js'), style: await read('.css') };
}
