import type { Placement } from '../../core/protocol/machine/devices.ts';
import type { RunConfig } from '../../core/protocol/run/config.ts';
import type { ForkBasis } from './fork-basis.ts';

/** Why a fork would not train with a configuration. */
export interface ForkProblem {
  /** The option to change. */
  path: string;
  message: string;
  /** A value of the option that lets it train; null if another option or point is needed. */
  enough: number | null;
}

/** What keeps a fork from training with this configuration on these devices; empty if nothing does. */
export function findForkProblems(basis: ForkBasis, config: RunConfig, plan: readonly Placement[]): ForkProblem[] {
  return [problemOfWaves(basis, plan), problemOfEnd(basis, config)].filter((problem) => problem !== null);
}

/** The problem as the terminal reports it. */
export function forkErrorOf({ path, message, enough }: ForkProblem): Error {
  return new Error(enough === null ? message : `${message} To train it further: --set ${path}=${enough}`);
}

/** The problem as a form shows it beside the option. */
export function formProblemOf({ path, message, enough }: ForkProblem): { path: string; message: string } {
  return { path, message: enough === null ? message : `${message} To train it further, enter for example ${enough}.` };
}

function problemOfWaves({ point }: ForkBasis, plan: readonly Placement[]): ForkProblem | null {
  const waves = new Set(plan.map(({ wave }) => wave)).size;
  if (point.kind === 'checkpoint' || waves <= 1) return null;
  const message =
    `The state ${point.name} is one of all ranks, but with this configuration they train in ${waves} waves. ` +
    'Fork from a checkpoint, or use as many devices as before.';
  return { path: 'devices', message, enough: null };
}

function problemOfEnd({ source, point, start }: ForkBasis, config: RunConfig): ForkProblem | null {
  const { id, config: before, summary } = source.record;
  const { maxEpochs, maxSteps } = config;
  const nothing = `A fork of ${id} at ${point.name} has nothing left to train`;
  if (start.epoch >= maxEpochs) return { path: 'maxEpochs', message: `${nothing}.`, enough: 2 * start.epoch };
  if (maxSteps > 0 && start.step >= maxSteps) {
    return { path: 'maxSteps', message: `${nothing}.`, enough: 2 * start.step };
  }
  const isSame = JSON.stringify(config.earlyStopping) === JSON.stringify(before.earlyStopping);
  const isStopped = summary?.stopReason === 'early-stopping' && summary.steps === start.step && point.kind === 'state';
  if (!isStopped || !isSame) return null;
  const message = `${nothing}, because early stopping ended the run there. Earlier points can be forked as they are.`;
  return { path: 'earlyStopping.patience', message, enough: 2 * config.earlyStopping.patience };
}
