import { tutti } from '../../../../core/text/program.ts';
import { mergeConfig, type PlainObject } from '../../../../core/options/index.ts';
import type { ProjectDescription } from '../../../../core/protocol/run/project-description.ts';
import type { Hub } from '../../../hub/hub.ts';
import type { TrainRequest } from '../../../hub/plan-run.ts';
import { enqueue } from '../../../campaigns/queue-work.ts';
import type { TrainArguments } from '../../arguments.ts';
import { exitCodes, orUsageError, UsageError } from '../../errors.ts';

/** `tutti train <project> --queue`: checks the run, and puts it at the end of the queue. @returns the exit code */
export async function trainLater(
  hub: Hub,
  { projectFolder, overrides, name, folder }: TrainRequest,
  project: ProjectDescription,
  { repeat, parallel, detach, json }: Pick<TrainArguments, 'repeat' | 'parallel' | 'detach' | 'json'>,
): Promise<number> {
  if (json) throw new UsageError('--json and --queue exclude each other: nothing trains yet that could be reported.');
  if (parallel !== undefined) {
    throw new UsageError('--parallel and --queue exclude each other: the runs of a waiting sweep train one at a time.');
  }
  const request = {
    projectFolder,
    overrides: overrides.reduce<PlainObject>((merged, layer) => mergeConfig(merged, layer), {}),
    name: name ?? null,
    out: folder ?? null,
    ...(repeat === undefined ? {} : { repeat }),
    ...(detach ? { detach } : {}),
  };
  const { waiting, place } = await orUsageError(enqueue(hub, request, project));
  process.stdout.write(`${describe(waiting.name, waiting.id, place)}\n`);
  return exitCodes.finished;
}

function describe(name: string, id: string, place: number): string {
  return [
    `${name} waits at place ${place} of the queue. It starts when no other run trains, as long as \`tutti ` +
      'dashboard` is open.',
    `  to see the queue:  ${tutti} queue`,
    `  to remove it:      ${tutti} queue --remove ${id}`,
  ].join('\n');
}
