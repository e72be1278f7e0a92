import { existsSync } from 'node:fs';
import { RunPresentError } from '../../import/import-run.ts';
import { exitCodes, toUsageError } from '../errors.ts';
import { withHub } from '../open-hub.ts';

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
