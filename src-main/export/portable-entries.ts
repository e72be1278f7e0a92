import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import type { EnsembleDescription } from '../../core/ensemble/schema.ts';
import type { EnsembleFormat, EnsembleReply, EnsembleTask } from '../../core/protocol/run/checkpoint-tasks.ts';
import type { RunRecord } from '../../core/protocol/run/record.ts';
import { writeEnsembleEntry } from '../processes/node-process.ts';
import { askToWrite, runSource } from './rebuild.ts';
import type { ExportEntry } from './sinks.ts';

/**
 * An ensemble for programs without Tutti, in a folder named after the format. A process rebuilds the models and writes
 * the files to a temporary folder, which is removed after the export.
 * @param warn called with possible differences from the time when the run trained
 * @throws Error if a checkpoint is missing or damaged, or has a layer that the format lacks
 */
export async function* portableEntries(
  folder: string,
  record: RunRecord,
  { format, ensemble }: { format: EnsembleFormat; ensemble: EnsembleDescription },
  warn: (message: string) => void,
): AsyncGenerator<ExportEntry> {
  const into = await mkdtemp(join(tmpdir(), 'tutti-ensemble-'));
  try {
    const { version } = packageJson;
    const task: EnsembleTask = { ...(await runSource(folder, record)), format, ensemble, version, into };
    const subject = `The ensemble of ${ensemble.members.length} members (${format}) could not be written`;
    const { paths, warnings } = await askToWrite<EnsembleReply>(writeEnsembleEntry, task, subject);
    for (const message of warnings) warn(message);
    for (const path of paths) {
      yield { path: `${format}/${path}`, compress: false, open: () => createReadStream(join(into, path)) };
    }
  } finally {
    await rm(into, { recursive: true, force: true });
  }
}
