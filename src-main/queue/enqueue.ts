import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import type { RunRequest } from '../../core/protocol/pages/project-views.ts';
import { mostWaiting, type WaitingRun } from '../../core/protocol/pages/runs/run-queue.ts';
import type { ProjectDescription } from '../../core/protocol/run/project-description.ts';
import type { Hub } from '../hub/hub.ts';
import { newSweep } from '../sweeps/sweep-plan.ts';
import { changeQueue } from './queue-file.ts';

/**
 * Checks a run or a sweep as if it started now, and puts it at the end of the queue.
 * @returns it, and its place from 1
 * @throws Error if the configuration is invalid, the project is not trusted, or too many runs wait
 */
export async function enqueue(
  hub: Hub,
  request: RunRequest,
  project: ProjectDescription,
): Promise<{ waiting: WaitingRun; place: number }> {
  const { projectFolder, overrides, name, out, repeat } = request;
  const asked = { projectFolder, overrides: [overrides], name: name ?? undefined, folder: out ?? undefined };
  if (repeat === undefined) await hub.planRun(asked, project);
  else await newSweep(hub, asked, project, repeat);
  const waiting: WaitingRun = {
    id: `waiting-${randomBytes(6).toString('hex')}`,
    request: { ...request, projectFolder: resolve(projectFolder), out: out === null ? null : resolve(out) },
    name: name ?? project.name,
    addedAt: new Date().toISOString(),
    startedAt: null,
    error: null,
  };
  const runs = await changeQueue((before) => {
    if (before.length < mostWaiting) return [...before, waiting];
    throw new Error(`${mostWaiting} runs wait already, and no more may. Remove some of them.`);
  });
  return { waiting, place: runs.findIndex(({ id }) => id === waiting.id) + 1 };
}
