import type { ForkChoice } from '../../../../core/protocol/history/history.ts';
import type { ForkRequest, PlannedFork } from '../../../hub/fork-run.ts';
import type { Hub } from '../../../hub/hub.ts';
import { UntrustedError } from '../../../trust/project-trust.ts';
import { type ChangeOptions, parseOverrides } from '../../arguments.ts';
import { type Consent, consentOf, ensureTrusted } from '../../consent.ts';
import { orUsageError, UsageError } from '../../errors.ts';
import { withHub } from '../../open-hub.ts';
import { trainDetached } from '../training/train-detached.ts';
import { watchRun, type WatchOptions } from '../training/watch-run.ts';

export interface ForkOptions extends WatchOptions, ChangeOptions {
  at?: string;
  best?: boolean;
  last?: boolean;
  name?: string;
  out?: string;
  /** Train with the project's present code, although it has changed. */
  currentSource?: boolean;
  trust?: boolean;
  detach?: boolean;
}

/** `tutti fork <run>`. @returns the exit code of the fork */
export function fork(run: string, options: ForkOptions): Promise<number> {
  const { name, out, detach, trust = false, currentSource } = options;
  const overrides = parseOverrides(options);
  const request: ForkRequest = { choice: parseChoice(options), overrides, name, folder: out, currentSource };
  return withHub(async (hub) => {
    const planned = await orUsageError(plan(hub, run, request, consentOf(trust)));
    if (detach) {
      return trainDetached({ kind: 'fork', folder: planned.folder, planned }, planned.record.id, options);
    }
    return watchRun((listener) => hub.fork(planned, listener), options);
  });
}

/**
 * The point that the options name; the last by default.
 * @throws UsageError if they name two, or an epoch before the first
 */
export function parseChoice({ at, best = false, last = false }: Pick<ForkOptions, 'at' | 'best' | 'last'>): ForkChoice {
  if (Number(best) + Number(last) + Number(at !== undefined) > 1) {
    throw new UsageError('--at, --best and --last exclude each other: a fork begins at one point.');
  }
  if (best) return { by: 'best' };
  if (at === undefined) return { by: 'last' };
  if (!/^\d{1,9}$/.test(at)) return { by: 'name', name: at };
  if (Number(at) === 0) throw new UsageError('--at 0: epochs count from 1. To begin at the start: tutti train');
  return { by: 'epoch', epoch: Number(at) - 1 };
}

async function plan(hub: Hub, run: string, request: ForkRequest, consent: Consent): Promise<PlannedFork> {
  try {
    return await hub.planFork(run, request);
  } catch (error) {
    if (!(error instanceof UntrustedError)) throw error;
    const { project } = await hub.record(run);
    await ensureTrusted(project.folder, consent);
    return hub.planFork(run, request);
  }
}
