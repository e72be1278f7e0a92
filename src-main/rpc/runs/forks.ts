import type { ForkRequest, ForkStart } from '../../../core/protocol/pages/run-views.ts';
import type { RunPreview } from '../../../core/protocol/pages/project-views.ts';
import type { RunConfig } from '../../../core/protocol/run/config.ts';
import { withChanges } from '../../../core/protocol/run/settings.ts';
import { startDetached } from '../../hub/detach.ts';
import { findForkProblems, formProblemOf } from '../../hub/fork-problems.ts';
import type { ForkBasis } from '../../hub/fork-basis.ts';
import type { Hub } from '../../hub/hub.ts';
import type { HubParts } from '../../hub/run-feed.ts';
import { checkChanges, parseConfig } from '../../runs/configuration/resolve-config.ts';
import { whyNotTrusted } from '../../trust/project-trust.ts';
import { changesBetween, forkCommandLine } from '../projects/command-line.ts';
import { folderOfNew, hasChangedCode, previewConfig, problemOfFolder, withProblems } from '../projects/previews.ts';

/** What a fork of a point begins with. @throws Error if the run has no such point */
export async function readForkStart(hub: Hub, id: string, name: string): Promise<ForkStart> {
  const run = await hub.find(id);
  const basis = await hub.forkBasis(id, { by: 'name', name });
  const { project } = basis.source.record;
  return { point: basis.point, name: run.name, project, config: configOf(basis) };
}

/** Checks a fork without starting it. @throws Error if the run has no such point */
export async function previewFork(hub: Hub, id: string, request: ForkRequest): Promise<RunPreview> {
  const { point, overrides, out, name, currentSource } = request;
  const basis = await hub.forkBasis(id, { by: 'name', name: point });
  const { project, task, metrics, workers } = basis.source.record;
  const before = configOf(basis);
  const preview = await previewConfig(hub, checkChanges(before, overrides), {
    // The project's loss was checked when the run was created.
    project: { task, hasOwnLoss: false, metrics },
    projectFolder: project.folder,
    runFolder: folderOfNew(out),
    workers,
    commandLine: (config) =>
      forkCommandLine({ run: id, point, name, out, currentSource }, changesBetween(before, config)),
  });
  const { config, plan } = preview;
  const ofFork = config === null ? [] : findForkProblems(basis, config, plan).map(formProblemOf);
  const { folder, record } = basis.source;
  const attempts = record.attempts.slice(0, basis.point.attempt);
  const changed = { ...preview, hasChangedCode: await hasChangedCode(folder, { attempts, project }) };
  return withProblems(changed, [...ofFork, ...problemOfFolder(out), ...problemOfTrust(project.folder)]);
}

/**
 * Starts a fork, in this process or detached.
 * @returns the id of the new run
 * @throws Error with the reason if it cannot start
 */
export async function startFork(
  { hub, live }: HubParts,
  id: string,
  { point, overrides, name, out, detach = false, currentSource }: ForkRequest,
): Promise<{ id: string }> {
  const choice = { by: 'name' as const, name: point };
  const planned = await hub.planFork(id, {
    choice,
    overrides,
    name: name ?? undefined,
    folder: out ?? undefined,
    currentSource,
  });
  if (detach) await startDetached({ kind: 'fork', folder: planned.folder, planned });
  else await live.fork(planned);
  return { id: planned.record.id };
}

/** The configuration at the point, with what was changed while the run trained. */
function configOf({ config, changed }: ForkBasis): RunConfig {
  return parseConfig(withChanges(config, changed));
}

function problemOfTrust(folder: string): RunPreview['problems'] {
  const reason = whyNotTrusted(folder);
  return reason === null ? [] : [{ path: null, message: reason }];
}
