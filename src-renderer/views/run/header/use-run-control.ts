import { computed, type ComputedRef, ref, type Ref } from 'vue';
import { useHub } from '../../../client/use-hub.ts';
import type { RunStore } from '../../../stores/run.ts';
import { useToastsStore } from '../../../stores/toasts.ts';
import { isPausedBy } from '../run-facts.ts';
import { type RunCommands, runCommands } from './run-commands.ts';

/** A command that the user must confirm. */
export type ConfirmedCommand = 'stop' | 'abort' | 'resume';

export interface RunControl extends Pick<RunCommands, 'change' | 'complete'> {
  /** Whether the run is training and this machine can reach it. */
  canControl: ComputedRef<boolean>;
  /** Whether the run ended early, and has a state from which it can go on. */
  canResume: ComputedRef<boolean>;
  isPaused: ComputedRef<boolean>;
  /** The command that waits for the user's confirmation; null while none does. */
  asked: Ref<ConfirmedCommand | null>;
  ask(command: ConfirmedCommand): void;
  confirm(): Promise<void>;
  stopAtEpochEnd(): Promise<void>;
  resume(): Promise<void>;
  /** Resumes with the project's present code instead of the code that the run kept. */
  resumeWithPresentCode(): Promise<void>;
  togglePause(): Promise<void>;
  checkpointNow(): Promise<void>;
}

const resumable: ReadonlySet<string | null> = new Set(['interrupted', 'stopped', 'failed']);

/** What the user can do with a run from its page. */
export function useRunControl(run: RunStore): RunControl {
  const commands = runCommands(useHub(), useToastsStore(), run);
  const asked = ref<ConfirmedCommand | null>(null);
  const canControl = computed(() => run.status === 'running' && (run.view?.isInReach ?? false));
  const isPaused = computed(() => isPausedBy(run.events));
  const ifControlled = async (command: () => Promise<void>): Promise<void> => {
    if (canControl.value) await command();
  };

  async function confirm(): Promise<void> {
    const command = asked.value;
    asked.value = null;
    if (command === 'abort') await commands.abort();
    if (command === 'stop') await commands.stopNow();
    if (command === 'resume') await commands.resumeWith('kept');
  }

  async function answer(command: () => Promise<void>): Promise<void> {
    asked.value = null;
    await command();
  }

  return {
    canControl,
    canResume: computed(() => resumable.has(run.status) && (run.view?.holdsState ?? false)),
    isPaused,
    asked,
    ask: (command) => {
      if (canControl.value) asked.value = command;
    },
    confirm,
    stopAtEpochEnd: () => answer(commands.stopAtEpochEnd),
    togglePause: () => ifControlled(isPaused.value ? commands.unpause : commands.pause),
    checkpointNow: () => ifControlled(commands.checkpointNow),
    change: commands.change,
    resume: () => commands.resume(() => (asked.value = 'resume')),
    resumeWithPresentCode: () => answer(() => commands.resumeWith('present')),
    complete: commands.complete,
  };
}
