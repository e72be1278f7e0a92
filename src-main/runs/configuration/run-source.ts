import type { RunSource } from '../../../core/protocol/run/checkpoint-tasks.ts';
import type { RunRecord } from '../../../core/protocol/run/record.ts';
import { dataFolders } from '../../store/home.ts';
import { requireTrust } from '../../trust/project-trust.ts';
import { codeOfRun } from './kept-code.ts';

/**
 * What a process needs to rebuild a run's models, with the code that the run kept.
 * @param refusal why the project's code must not run; null if it must be able to
 * @throws Error if the code must run and the project is not trusted
 */
export async function sourceOfRun(
  folder: string,
  record: RunRecord,
  refusal: string | null = null,
): Promise<RunSource> {
  const { config, project, task } = record;
  return {
    runFolder: folder,
    projectFolder: refusal === null ? requireTrust(project.folder) : project.folder,
    projectRefusal: refusal,
    task,
    ...(await codeOfRun(folder, record)),
    dataFolders: dataFolders(),
    config,
  };
}
