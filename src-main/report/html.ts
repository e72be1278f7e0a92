import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { encodeRpc } from '../../core/protocol/pages/rpc-codec.ts';
import { type ReportData, reportDataId } from '../../core/protocol/pages/report.ts';

/** The built page of reports: one script and one style sheet. */
export interface ReportPage {
  script: string;
  style: string;
}

/**
 * One HTML file that opens without a server and loads nothing. Its security policy allows this script and no connection. What a run says
 * (its name, its events, its metrics) is in the data alone, which holds no character that HTML knows.
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
