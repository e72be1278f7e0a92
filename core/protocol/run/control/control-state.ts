import type { Control } from '../messages.ts';
import type { SettingChanges } from '../settings.ts';

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
 * The state after a control. A stop of all ranks ends a pause, and no pause can follow an immediate stop. A repeated control changes
 * nothing. `checkpoint` is a single action, so it leaves no trace in the state.
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
 * Controls replayed to ranks that join later: applied to the initial state they give this one, except for the settings, which a rank
 * receives at its launch.
 */
export function controlsToReplay(state: ControlState): Control[] {
  return [
    ...(state.isStopping ? [{ action: 'stop' as const }] : []),
    ...(state.isStoppingAtEpochEnd ? [{ action: 'stop-at-epoch-end' as const }] : []),
    ...state.stoppedRanks.map((rank) => ({ action: 'stop-rank' as const, rank })),
    ...(state.isPaused ? [{ action: 'pause' as const }] : []),
  ];
}
