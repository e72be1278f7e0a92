import { join } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { runIdSchema } from '../../core/protocol/run/record.ts';
import { out } from '../built/build.ts';
import type { HubParts } from '../hub/run-feed.ts';
import type { WrittenExport } from '../rpc/runs/exports.ts';
import { homePaths } from '../store/home.ts';
import { writeReport } from './write-report.ts';

/** Writes a run as one HTML file in Tutti's home, for a page. Replaces an earlier report. */
export async function exportReport({ hub }: HubParts, run: string): Promise<WrittenExport> {
  // The index may be older than the rule for ids.
  const id = runIdSchema.parse((await hub.find(run)).id);
  const fileName = `${id}.html`;
  const to = join(homePaths().exports, fileName);
  // The front end built the page of reports with its own pages.
  const page = { pageFolder: join(out, 'report'), version: packageJson.version };
  const bytes = await writeReport(hub, { id, to, overwrite: true, ...page });
  return { path: to, fileName, bytes, warnings: [] };
}
