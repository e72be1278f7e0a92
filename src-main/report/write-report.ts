import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createFileExclusively, writeFileAtomic } from '../../core/node/atomic-file.ts';
import type { Hub } from '../hub/hub.ts';
import { gatherReport } from './gather.ts';
import { encodeRpc } from '../../core/protocol/pages/rpc.ts';
import { type ReportData, reportDataId } from '../../core/protocol/pages/run-data.ts';

interface ReportRequest {
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

/** The built page of reports: one script and one style sheet. */
interface ReportPage {
  script: string;
  style: string;
}

/**
 * One HTML file that opens without a server and loads nothing. Its security policy allows this script and no
 * connection. What a run says (its name, its events, its metrics) is in the data alone, which holds no character that
 * HTML knows.
 */
export function reportHtml(page: ReportPage, data: ReportData): string {
  // Within a script element only this sequence ends it, and the HTML comment changes how it is read.
  const script = page.script.replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');
  const style = page.style.replaceAll('</style', '<\\/style');
  const hash = createHash('sha256').update(script).digest('base64');
  const policy = [
    "default-src 'none'",
    `script-src 'sha256-${hash}'`,
    "style-src 'unsafe-inline'",
    'img-src data: blob:',
    'font-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  const bytes = gzipSync(encodeRpc(data), { level: 9 }).toString('base64');
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta http-equiv="Content-Security-Policy" content="${policy}" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <link rel="icon" href="data:," />
    <title>Report - Tutti</title>
    <style>${style}</style>
  </head>
  <body>
    <div id="app"><noscript>This report draws its figures with JavaScript, which this browser does not run.</noscript></div>
    <script type="text/plain" id="${reportDataId}">${bytes}</script>
    <script>${script}</script>
  </body>
</html>
`;
}
