import type { AttemptCommand } from '../../../core/protocol/pages/rpc.ts';
import { configOfAttempt } from '../../../core/protocol/run/record.ts';
import type { Hub } from '../../hub/hub.ts';
import { commandLine, resumeCommandLine } from '../projects/command-line.ts';
import type { Projects } from '../projects/projects.ts';

/**
 * The command behind each attempt of a run: that which starts a run like the first, then one for each resume. Restarts, and attempts whose
 * configuration an earlier version did not keep, have none.
 * @throws when the project, whose defaults the first command leaves out, cannot be described
 */
export async function attemptCommands(hub: Hub, projects: Projects, id: string): Promise<AttemptCommand[]> {
  const record = await hub.record(id);
  const { folder } = record.project;
  const project = await projects.describe(folder);
  const known = record.attempts.filter((attempt) => configOfAttempt(record, attempt) !== null);
  return known.flatMap((attempt, index) => {
    const config = configOfAttempt(record, attempt);
    if (config === null || attempt.kind === 'restart') return [];
    const request = { projectFolder: folder, overrides: {}, name: record.name, out: null };
    const isFirst = index === 0 || attempt.overrides === undefined;
    const command = isFirst
      ? commandLine(project, request, config)
      : resumeCommandLine(record.id, attempt.overrides ?? {});
    return [{ attempt: attempt.attempt, command }];
  });
}
