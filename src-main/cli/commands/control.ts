import { getPath } from '../../../core/options/index.ts';
import type { ControlRequest } from '../../../core/protocol/run/control-state.ts';
import {
  type SettingChanges,
  settingChangesSchema,
  settingNames,
  settingPaths,
} from '../../../core/protocol/run/settings.ts';
import { parseAssignments, parseRank } from '../arguments.ts';
import { runFlagsOf } from '../../runs/configuration/run-flags.ts';
import { orUsageError, UsageError, exitCodes } from '../errors.ts';
import { withHub } from '../open-hub.ts';

export interface StopOptions {
  atEpochEnd?: boolean;
  rank?: string;
}

/** `tutti stop <run>`. @returns the exit code */
export function stop(run: string, { atEpochEnd = false, rank }: StopOptions): Promise<number> {
  if (rank === undefined) {
    return atEpochEnd
      ? control(run, { action: 'stop-at-epoch-end' }, 'All ranks stop once they have completed their epoch.')
      : control(run, { action: 'stop' }, 'All ranks stop at their next step.');
  }
  if (atEpochEnd) throw new UsageError('--rank stops one rank at its next step: omit --at-epoch-end or --rank.');
  const done = `Rank ${rank} stops at its next step; the others continue.`;
  return control(run, { action: 'stop-rank', rank: parseRank(rank) }, done);
}

/** `tutti pause <run>`. @returns the exit code */
export function pause(run: string): Promise<number> {
  return control(run, { action: 'pause' }, 'Every rank waits at its next step. `tutti continue` ends the pause.');
}

/** `tutti continue <run>`. @returns the exit code */
export function continueRun(run: string): Promise<number> {
  return control(run, { action: 'resume' }, 'The run continues.');
}

/** `tutti checkpoint <run> --name <name>`. @returns the exit code */
export function keepCheckpoint(run: string, { name }: { name: string }): Promise<number> {
  return control(run, { action: 'checkpoint', name }, `Every rank saves its weights at its next step, as "${name}".`);
}

/** `tutti set <run> <path=value...>`. @returns the exit code */
export function set(run: string, assignments: readonly string[]): Promise<number> {
  const changes = parseChanges(assignments);
  const words = settingNames.flatMap((name) =>
    changes[name] === undefined ? [] : `${settingPaths[name]} ${changes[name]}`,
  );
  return control(run, { action: 'set', changes }, `From its next step, every rank trains with ${words.join(', ')}.`);
}

function parseChanges(assignments: readonly string[]): SettingChanges {
  const paths: readonly string[] = Object.values(settingPaths);
  for (const assignment of assignments) {
    const path = assignment.split('=')[0];
    if (paths.includes(path)) continue;
    throw new UsageError(`"${path}" cannot be changed while a run trains, only ${paths.join(' and ')} can.`);
  }
  const values = parseAssignments(assignments, runFlagsOf(null));
  return settingChangesSchema.parse(
    Object.fromEntries(settingNames.map((name) => [name, getPath(values, settingPaths[name].split('.'))])),
  );
}

function control(run: string, request: ControlRequest, done: string): Promise<number> {
  return withHub(async (hub) => {
    await orUsageError(hub.control(run, request));
    process.stdout.write(`${done}\n`);
    return exitCodes.finished;
  });
}
