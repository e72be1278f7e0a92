import { z } from 'zod';
import { messageOf } from '../../../../core/text/errors.ts';
import { spellCommands, tutti } from '../../../../core/text/program.ts';
import { mergeConfig, type PlainObject } from '../../../../core/options/index.ts';
import { readUserText } from '../../../../core/node/read-lines.ts';
import type { ProjectDescription } from '../../../../core/protocol/run/project-description.ts';
import type { Hub } from '../../../hub/hub.ts';
import type { TrainRequest } from '../../../hub/plan-run.ts';
import type { NodeRange } from '../../../nodes/place.ts';
import { parseTrainArguments, type TrainArguments } from '../../arguments.ts';
import { runFlagsOf } from '../../../runs/configuration/run-flags.ts';
import { consentOf, ensureAllowed, ensureTrusted } from '../../consent.ts';
import { exitCodes, orUsageError, toUsageError, UsageError } from '../../errors.ts';
import { renderTrainHelp, type TrainHelp } from '../../help.ts';
import { inLaunch, isFirstTask, refuseInLaunch, serveTask } from '../../launched.ts';
import { trainDetached } from './train-detached.ts';
import { newSweep } from '../../../campaigns/sweep-plan.ts';
import { nodesOf, trainInJob } from './train-in-job.ts';
import { trainSweep } from '../sweeps/train-sweep.ts';
import { watchRun } from './watch-run.ts';
import { enqueue } from '../../../campaigns/queue-work.ts';

const detachedSweep =
  '--detach and --repeat exclude each other: this process begins one run after the other. Omit --detach; should ' +
  'the process end early, `tutti resume` continues the sweep.';

/**
 * `tutti train <project> [options]`. The options depend on the project, so it is described first.
 * @returns the exit code
 */
export async function train(projectFolder: string | undefined, args: readonly string[]): Promise<number> {
  if (projectFolder === undefined || projectFolder.startsWith('-')) return withoutProject(projectFolder, args);
  if (!isFirstTask()) return serveTask();
  const nodes = nodesOf(args);
  // Everything else needs the project's code, also its help.
  const consent = consentOf(args.includes('--trust'));
  await orUsageError(ensureTrusted(projectFolder, consent));
  return inLaunch(async (hub) => {
    const project = await orUsageError(hub.describe(projectFolder));
    const flags = runFlagsOf(project);
    const parsed = parseTrainArguments(args, flags);
    const { help, config, name, out, overrides } = parsed;
    if (help) {
      return printHelp({ project: { folder: projectFolder, description: project }, flags, topic: help });
    }
    await orUsageError(ensureAllowed(projectFolder, project.permissions, consent));
    refuseUnusable(parsed, hub, nodes);
    if (nodes !== null && hub.tasks === null) return trainInJob(projectFolder, args, nodes, parsed);
    const layers = config === undefined ? [overrides] : [await readConfig(config), overrides];
    return begin(hub, { projectFolder, overrides: layers, name, folder: out }, project, parsed);
  }, nodes);
}

/** Trains now, later, in another process or with several seeds. */
async function begin(
  hub: Hub,
  request: TrainRequest,
  project: ProjectDescription,
  { repeat, parallel, json, quiet, detach, queue }: TrainArguments,
): Promise<number> {
  if (queue) return trainLater(hub, request, project, { repeat, parallel, detach, json });
  if (repeat !== undefined) {
    const plan = await orUsageError(newSweep(hub, request, project, repeat));
    return trainSweep(hub, plan, { parallel, json, quiet });
  }
  const planned = await orUsageError(hub.planRun(request, project));
  if (detach) return trainDetached({ kind: 'start', folder: planned.folder, planned }, planned.id, { json });
  return watchRun((listener) => hub.start(planned, listener), { json, quiet });
}

/** @throws UsageError for options that exclude each other, or the launch of several tasks */
function refuseUnusable(
  { repeat, parallel, detach, queue, dryRun, sbatch }: TrainArguments,
  hub: Hub,
  nodes: NodeRange | null,
): void {
  if (nodes === null && (dryRun || sbatch !== undefined))
    throw new UsageError('--dry-run and --sbatch belong to --nodes, which submits a job.');
  if (detach) refuseInLaunch(hub, '--detach');
  if (queue) refuseInLaunch(hub, '--queue');
  if (parallel !== undefined && parallel > 1) refuseInLaunch(hub, '--parallel');
  if (queue) return;
  if (repeat === undefined && parallel !== undefined)
    throw new UsageError('--parallel belongs to --repeat: it is the number of repeated runs that train at a time.');
  if (repeat !== undefined && detach) throw new UsageError(detachedSweep);
}

function withoutProject(first: string | undefined, args: readonly string[]): number {
  if (first !== '--help' && first !== '-h') {
    throw new UsageError('The project comes first: tutti train <project> [options]. It is a folder with a project.ts.');
  }
  return printHelp({ project: null, flags: runFlagsOf(null), topic: args.at(0) ?? true });
}

async function readConfig(file: string): Promise<PlainObject> {
  const text = await orUsageError(readUserText(file, 'read the configuration'));
  try {
    return z.record(z.string(), z.unknown()).parse(JSON.parse(text));
  } catch (error) {
    const reason = error instanceof SyntaxError ? messageOf(error) : 'it must hold one object';
    throw new UsageError(`${file} is not a configuration in JSON: ${reason}.`, { cause: error });
  }
}

/** @throws UsageError for a topic that there is not */
function printHelp(help: Omit<TrainHelp, 'width'>): number {
  const lines = renderHelp({ ...help, width: process.stdout.columns ?? 100 });
  process.stdout.write(`${spellCommands(lines.join('\n'))}\n`);
  return exitCodes.finished;
}

function renderHelp(help: TrainHelp): string[] {
  try {
    return renderTrainHelp(help);
  } catch (error) {
    throw toUsageError(error);
  }
}

/** `tutti train <project> --queue`: checks the run, and puts it at the end of the queue. @returns the exit code */
async function trainLater(
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
  process.stdout.write(`${describeWaiting(waiting.name, waiting.id, place)}\n`);
  return exitCodes.finished;
}

function describeWaiting(name: string, id: string, place: number): string {
  return [
    `${name} waits at place ${place} of the queue. It starts when no other run trains, as long as \`tutti ` +
      'dashboard` is open.',
    `  to see the queue:  ${tutti} queue`,
    `  to remove it:      ${tutti} queue --remove ${id}`,
  ].join('\n');
}
