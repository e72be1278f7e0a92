import { join, resolve } from 'node:path';
import packageJson from '../../../package.json' with { type: 'json' };
import { formatBytes } from '../../../core/text/numbers.ts';
import { buildIfStale, out } from '../../built/build.ts';
import { writeReport } from '../../report/write-report.ts';
import { exitCodes, orUsageError } from '../errors.ts';
import { withHub } from '../open-hub.ts';

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
