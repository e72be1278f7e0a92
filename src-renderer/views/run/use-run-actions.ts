import { computed, type ComputedRef, ref, type Ref } from 'vue';
import { useHub } from '../../client/use-hub.ts';
import type { RunStore } from '../../stores/run.ts';
import { useToastsStore } from '../../stores/toasts.ts';
import { whatIsKept } from './run-facts.ts';

export type AskedAction = 'stop' | 'abort';

export interface RunActions {
  /** Whether this hub trains the run now. */
  canControl: ComputedRef<boolean>;
  canResume: ComputedRef<boolean>;
  isPaused: ComputedRef<boolean>;
  /** The action whose consequence the user is asked to confirm; null while nothing is asked. */
  asked: Ref<AskedAction | null>;
  ask(action: AskedAction): void;
  confirm(): Promise<void>;
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

  // A rank that stands by or draws never says that it is paused.
  const isPaused = computed(() => run.ranks.some(({ state }) => state === 'paused'));

  function ask(action: AskedAction): void {
    if (canControl.value) asked.value = action;
  }

  async function confirm(): Promise<void> {
    const action = asked.value;
    asked.value = null;
    await toasts.attempt(async () => {
      if (action === 'abort') return hub.abort(run.id);
      await hub.control(run.id, { action: 'stop' });
      toasts.tell(`All ranks stop at their next step. ${run.view === null ? '' : whatIsKept(run.view.record.config)}`);
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
      await hub.resumeRun(run.id);
      await run.refresh();
    });
  }

  return { canControl, canResume, isPaused, asked, ask, confirm, togglePause, checkpointNow, resume };
}
