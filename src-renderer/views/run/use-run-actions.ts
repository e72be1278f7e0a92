import { computed, type ComputedRef, ref, type Ref } from 'vue';
import { type SettingChanges, settingNames } from '../../../core/protocol/run/settings.ts';
import { useHub } from '../../client/use-hub.ts';
import { labelOfName } from '../../text/format.ts';
import type { RunStore } from '../../stores/run.ts';
import { useToastsStore } from '../../stores/toasts.ts';
import { isPausedBy, whatIsKept } from './run-facts.ts';

export type AskedAction = 'stop' | 'abort';

export interface RunActions {
  /** Whether the run trains now where it can be reached from here. */
  canControl: ComputedRef<boolean>;
  canResume: ComputedRef<boolean>;
  isPaused: ComputedRef<boolean>;
  /** The action whose consequence the user is asked to confirm; null while nothing is asked. */
  asked: Ref<AskedAction | null>;
  ask(action: AskedAction): void;
  confirm(): Promise<void>;
  stopAtEpochEnd(): Promise<void>;
  /** `before` is what setting back sets. */
  change(changes: SettingChanges, before: SettingChanges): Promise<void>;
  togglePause(): Promise<void>;
  checkpointNow(): Promise<void>;
  resume(): Promise<void>;
}

/** What a user may do with a run from its page. */
export function useRunActions(run: RunStore): RunActions {
  const hub = useHub();
  const toasts = useToastsStore();
  const asked = ref<AskedAction | null>(null);
  const canControl = computed(() => run.status === 'running' && (run.view?.isInReach ?? false));
  const canResume = computed(() => run.status === 'interrupted' || run.status === 'stopped' || run.status === 'failed');

  const isPaused = computed(() => isPausedBy(run.events));

  function ask(action: AskedAction): void {
    if (canControl.value) asked.value = action;
  }

  async function confirm(): Promise<void> {
    const action = asked.value;
    asked.value = null;
    await toasts.attempt(async () => {
      if (action === 'abort') return hub.abort(run.id);
      if (action === null) return;
      await hub.control(run.id, { action: 'stop' });
      toasts.tell(`All ranks stop at their next step. ${run.view === null ? '' : whatIsKept(run.view.record.config)}`);
    });
  }

  async function stopAtEpochEnd(): Promise<void> {
    asked.value = null;
    await toasts.attempt(async () => {
      await hub.control(run.id, { action: 'stop-at-epoch-end' });
      toasts.tell('All ranks stop once they have completed their epoch.');
    });
  }

  async function change(changes: SettingChanges, before: SettingChanges): Promise<void> {
    await toasts.attempt(async () => {
      await hub.control(run.id, { action: 'set', changes });
      const names = settingNames.filter((name) => changes[name] !== undefined);
      const back: SettingChanges = Object.fromEntries(names.map((name) => [name, before[name]]));
      const words = names.map((name) => `${labelOfName(name)} ${before[name]} → ${changes[name]}`).join(', ');
      toasts.tell(`${words}, from the next step of every rank.`, () => change(back, changes));
    });
  }

  async function togglePause(): Promise<void> {
    if (!canControl.value) return;
    const action = isPaused.value ? 'resume' : 'pause';
    await toasts.attempt(async () => {
      await hub.control(run.id, { action });
      if (action === 'pause') toasts.tell('Every rank waits at its next step. Its device stays in use.');
    });
  }

  async function checkpointNow(): Promise<void> {
    if (!canControl.value) return;
    const step = Math.max(0, ...run.ranks.map((rank) => rank.step));
    const name = `requested-${step}`;
    await toasts.attempt(async () => {
      await hub.control(run.id, { action: 'checkpoint', name });
      toasts.tell(`Every rank keeps its weights at its next step, as "${name}".`);
    });
  }

  async function resume(): Promise<void> {
    await toasts.attempt(async () => {
      await hub.resumeRun(run.id, {});
      await run.refresh();
    });
  }

  return {
    canControl,
    canResume,
    isPaused,
    asked,
    ask,
    confirm,
    stopAtEpochEnd,
    change,
    togglePause,
    checkpointNow,
    resume,
  };
}
