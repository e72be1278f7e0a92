import { applyControl, controlsToReplay, initialControlState } from '../../../core/protocol/run/control-state.ts';
import type { Control, WorkerState } from '../../../core/protocol/run/messages.ts';
import type { RunRecord } from '../../../core/protocol/run/record.ts';
import {
  type SettingChanges,
  settingNames,
  settingPaths,
  settingsOf,
  whyNotSet,
  whyNotStopRank,
} from '../../../core/protocol/run/settings.ts';
import type { RunRecorder } from '../recording/run-recorder.ts';

/** States in which a rank may have steps left to train. */
const trainingStates: ReadonlySet<WorkerState> = new Set(['training', 'paused', 'evaluating']);

/** What the controls need of the wave that trains now. */
interface ControlledWave {
  control(control: Control): void;
  states(): Map<number, WorkerState>;
  position(): { epoch: number; step: number };
}

/**
 * Takes the controls of users while a run trains: refuses each with a reason, or records it as an event and sends it to
 * the ranks.
 */
export class RunControls {
  #state = initialControlState;
  #recorder: RunRecorder | null = null;
  #wave: ControlledWave | null = null;

  /** Sets the recorder, once the run has a record to keep events in. */
  begin(recorder: RunRecorder): void {
    this.#recorder = recorder;
  }

  /** Sets the wave that trains from now on, and replays to it the controls that still hold. */
  enter(wave: ControlledWave): void {
    this.#wave = wave;
    for (const control of controlsToReplay(this.#state)) wave.control(control);
  }

  /** @throws Error with the reason for a refusal, and what to do instead */
  take(control: Control): void {
    switch (control.action) {
      case 'stop':
        this.#note('stop-requested', 'A stop of all ranks was requested.');
        break;
      case 'stop-at-epoch-end':
        this.#stopAtEpochEnd();
        break;
      case 'stop-rank':
        this.#stopRank(control.rank);
        break;
      case 'pause':
        if (this.#state.isStopping) {
          throw new Error('The run is stopping: it cannot be paused. Resume it afterwards.');
        }
        if (this.#state.isPaused) throw new Error('The run is paused already. Continue it, or stop it.');
        this.#note('paused', 'A pause was requested: every rank waits at its next step.');
        break;
      case 'resume':
        if (!this.#state.isPaused) throw new Error('The run is not paused, so that there is nothing to continue.');
        this.#note('resumed', 'The pause ended.');
        break;
      case 'checkpoint':
        this.#requestCheckpoint(control.name);
        break;
      case 'set':
        this.#change(control.changes);
    }
    this.#state = applyControl(this.#state, control);
    this.#wave?.control(control);
  }

  #stopAtEpochEnd(): void {
    if (this.#state.isStopping) throw new Error('The run is stopping already, at the next step of every rank.');
    if (this.#state.isStoppingAtEpochEnd) {
      throw new Error('The run stops at the end of its epoch already. To stop it sooner, stop it at its next step.');
    }
    this.#note('stop-requested', 'A stop of all ranks at the end of the epoch was requested.');
  }

  #requestCheckpoint(name: string): void {
    if (this.#state.isStopping) {
      throw new Error(
        'The run is stopping: no rank does another step at which it could save. Use its checkpoint "final".',
      );
    }
    checkCheckpointName(name);
    this.#note('checkpoint-requested', `A checkpoint "${name}" of every rank was requested.`, { name });
  }

  #stopRank(rank: number): void {
    const { config, plan } = this.#begun().record;
    const reason = whyNotStopRank(config);
    if (reason !== null) throw new Error(`Rank ${rank} cannot be stopped alone. ${reason}`);
    if (rank >= plan.length)
      throw new Error(`There is no rank ${rank}: this run has ranks 0 to ${plan.length - 1}. Name one of them.`);
    const { stoppedRanks } = this.#state;
    const states = this.#wave?.states() ?? new Map<number, WorkerState>();
    const training = [...states].flatMap(([one, state]) =>
      trainingStates.has(state) && !stoppedRanks.includes(one) ? [one] : [],
    );
    if (!training.includes(rank)) {
      const how = stoppedRanks.includes(rank) ? 'stopped' : (states.get(rank) ?? 'in another wave');
      throw new Error(`Rank ${rank} cannot be stopped: it is ${how}, and only a rank that trains can be.`);
    }
    if (training.length === 1) throw new Error(`Rank ${rank} is the last that trains. Stop the run instead.`);
    this.#note('rank-stop-requested', `A stop of rank ${rank} alone was requested.`, { rank });
  }

  /** Records the change too, so that a resumed run continues with it. */
  #change(wanted: SettingChanges): void {
    const recorder = this.#begun();
    const { config, changed, attempts } = recorder.record;
    const isCompletion = attempts.at(-1)?.completes !== undefined;
    const whyNotCompleted = isCompletion ? 'This attempt trains a missing member as the others were trained.' : null;
    const now = currentSettings(recorder.record);
    const names = settingNames.filter((name) => wanted[name] !== undefined && wanted[name] !== now[name]);
    if (names.length === 0) {
      const values = settingNames.map((name) => `${settingPaths[name]} is ${now[name]}`).join(', ');
      throw new Error(`Nothing would change: ${values} already. Give another value.`);
    }
    for (const name of names) {
      const reason = whyNotCompleted ?? whyNotSet(name, config);
      if (reason !== null) throw new Error(`${settingPaths[name]} cannot be changed. ${reason}`);
    }
    const words = names.map((name) => `${settingPaths[name]} from ${now[name]} to ${wanted[name]}`).join(', ');
    this.#note('change-requested', `A change was requested: ${words}.`, { ...wanted });
    recorder.keep({ changed: { ...changed, ...wanted } });
  }

  #begun(): RunRecorder {
    if (this.#recorder === null) throw new Error('The run has not begun yet. Try again once it has.');
    return this.#recorder;
  }

  /** Records an event at the last reported position of the rank that is furthest ahead. */
  #note(kind: string, message: string, data: Record<string, unknown> = {}): void {
    this.#recorder?.event(null, kind, message, { ...this.#wave?.position(), data });
  }
}

/** The settings in effect: those of the configuration, with the changes since. */
export function currentSettings({ config, changed }: Pick<RunRecord, 'config' | 'changed'>) {
  return { ...settingsOf(config), ...changed };
}

/** Names of checkpoints that a run replaces or removes by its own rules. */
const ownNames = /^(final|(ensemble|member)-best|(epoch|top)-\d+)$/;

function checkCheckpointName(name: string): void {
  if (!/^[\w-]+$/.test(name)) {
    throw new Error(`"${name}" cannot name a checkpoint: use letters, digits, "-" and "_", as in "before-decay".`);
  }
  if (!ownNames.test(name)) return;
  throw new Error(
    `"${name}" is a name of the run's own checkpoints, which it replaces and removes. Use another one, as in ` +
      '"before-decay".',
  );
}
