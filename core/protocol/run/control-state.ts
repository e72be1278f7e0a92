import { type Control, controlSchema } from './messages.ts';
import type { SettingChanges } from './settings.ts';
import { z } from 'zod';

/** The controls that still hold in a run. The hub and every rank derive it from the same controls in the same order. */
export interface ControlState {
  /** All ranks end their training at their next step. */
  readonly isStopping: boolean;
  /** All ranks end their training once they have completed their epoch. */
  readonly isStoppingAtEpochEnd: boolean;
  readonly isPaused: boolean;
  /** Ranks that were asked to stop alone, in the order of the requests. */
  readonly stoppedRanks: readonly number[];
  /** The last requested value of each setting that was changed. */
  readonly settings: SettingChanges;
}

export const initialControlState: ControlState = {
  isStopping: false,
  isStoppingAtEpochEnd: false,
  isPaused: false,
  stoppedRanks: [],
  settings: {},
};

/**
 * The state after a control. A stop of all ranks ends a pause, and no pause can follow an immediate stop. A repeated
 * control changes nothing. `checkpoint` is a single action, so it leaves no trace in the state.
 */
export function applyControl(state: ControlState, control: Control): ControlState {
  switch (control.action) {
    case 'stop':
      return { ...state, isStopping: true, isPaused: false };
    case 'stop-at-epoch-end':
      return { ...state, isStoppingAtEpochEnd: true, isPaused: false };
    case 'stop-rank':
      if (state.stoppedRanks.includes(control.rank)) return state;
      return { ...state, stoppedRanks: [...state.stoppedRanks, control.rank] };
    case 'pause':
      return { ...state, isPaused: !state.isStopping };
    case 'resume':
      return { ...state, isPaused: false };
    case 'checkpoint':
      return state;
    case 'set':
      return { ...state, settings: { ...state.settings, ...control.changes } };
  }
}

/**
 * Controls replayed to ranks that join later: applied to the initial state they give this one, except for the settings,
 * which a rank receives at its launch.
 */
export function controlsToReplay(state: ControlState): Control[] {
  return [
    ...(state.isStopping ? [{ action: 'stop' as const }] : []),
    ...(state.isStoppingAtEpochEnd ? [{ action: 'stop-at-epoch-end' as const }] : []),
    ...state.stoppedRanks.map((rank) => ({ action: 'stop-rank' as const, rank })),
    ...(state.isPaused ? [{ action: 'pause' as const }] : []),
  ];
}

/**
 * Another process of the same user controls a run by connecting to the socket that the run's record names. It sends one
 * request and gets one answer. The token is beside the socket, in the owner-only scratch folder.
 */

export const controlRequestSchema = z.union([controlSchema, z.strictObject({ action: z.literal('abort') })]);
/** A request to a run, from the process that trains it or from another one. */
export type ControlRequest = z.output<typeof controlRequestSchema>;

export const remoteRequestSchema = z.strictObject({
  type: z.literal('remote-request'),
  token: z.string(),
  request: controlRequestSchema,
});
export type RemoteRequest = z.output<typeof remoteRequestSchema>;

export const remoteAnswerSchema = z.strictObject({
  type: z.literal('remote-answer'),
  /** The reason for a refusal; null if the request was accepted. */
  refusal: z.string().nullable(),
});
export type RemoteAnswer = z.output<typeof remoteAnswerSchema>;

/** A run on another machine, as `tutti attach` and the pages take it. */
export interface RemoteTarget {
  /** The address for ssh: `user@login`, or a name of its configuration. */
  from: string;
  /** The run's id, name, folder, or the beginning of its id or name; empty: the only one. */
  run: string;
}

/**
 * `user@login:run`; null for a run of this machine: a text without a colon, or a path of Windows.
 * @throws Error if ssh would take it for an option
 */
export function parseTarget(text: string): RemoteTarget | null {
  const found = /^([^:/\\]{2,}):(.*)$/.exec(text);
  if (found === null) return null;
  const [, from, run] = found;
  if (/^[\w.@%+-]+$/.test(from) && !from.startsWith('-')) return { from, run };
  throw new Error(`"${from}" is no host as ssh takes it: user@login, or a name of its configuration.`);
}
