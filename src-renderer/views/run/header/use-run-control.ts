import { computed, type ComputedRef, ref, type Ref } from 'vue';
import { useHub } from '../../../client/use-hub.ts';
import type { RunStore } from '../../../stores/run.ts';
import { useToastsStore } from '../../../stores/toasts.ts';
import { isPausedBy, whatIsKept } from '../run-facts.ts';
import type { HubApi } from '../../../../core/protocol/pages/hub-methods.ts';
import { type SettingChanges, settingNames, whyNotStopRank } from '../../../../core/protocol/run/settings.ts';
import { labelOfName } from '../../../components/basic/format.ts';
import type { ExportResult } from '../../../../core/protocol/pages/run-data.ts';
import { downloadFrom } from '../../../charts/frame/download.ts';
import type { RankView } from '../../../../core/protocol/pages/run-views.ts';

/** A command that the user must confirm. */
type ConfirmedCommand = 'stop' | 'abort' | 'resume';

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

/**
 * The requests that the page of a run sends. A toast reports a failure, and what follows where the page does not show
 * it at once.
 */
interface RunCommands {
  stopNow: () => Promise<void>;
  stopAtEpochEnd: () => Promise<void>;
  abort: () => Promise<void>;
  pause: () => Promise<void>;
  /** Ends a pause. */
  unpause: () => Promise<void>;
  checkpointNow: () => Promise<void>;
  /** `before` holds the values that undoing sets. */
  change: (changes: SettingChanges, before: SettingChanges) => Promise<void>;
  /**
   * Starts a run again that has ended. Where the project's code has changed since, it asks which code to use, and `ask`
   * shows the question.
   */
  resume: (ask: () => void) => Promise<void>;
  /** Starts it with the code that the run kept, or with the project's present code. */
  resumeWith: (code: 'kept' | 'present') => Promise<void>;
  /** Trains a missing member alone, up to where the others ended. */
  complete: (rank: number) => Promise<void>;
}

type ControlRequest = Parameters<HubApi['control']>[1];

function runCommands(
  hub: HubApi,
  toasts: Pick<ReturnType<typeof useToastsStore>, 'attempt' | 'tell'>,
  run: Pick<RunStore, 'id' | 'view' | 'ranks' | 'refresh'>,
): RunCommands {
  const send = (request: ControlRequest, message?: () => string): Promise<void> =>
    toasts.attempt(async () => {
      await hub.control(run.id, request);
      if (message !== undefined) toasts.tell(message());
    });
  const kept = (): string => (run.view === null ? '' : whatIsKept(run.view.record.config));

  function checkpointNow(): Promise<void> {
    // Not named by a step: the ranks save at their next one, which this page does not know yet.
    const asked = run.view?.events.filter(({ kind }) => kind === 'checkpoint-requested').length ?? 0;
    const name = `requested-${asked + 1}`;
    return send({ action: 'checkpoint', name }, () => `Every rank saves its weights at its next step, as "${name}".`);
  }

  const change = (changes: SettingChanges, before: SettingChanges): Promise<void> =>
    toasts.attempt(async () => {
      await hub.control(run.id, { action: 'set', changes });
      toasts.tell(describeChanges(changes, before), () => change(previousOf(changes, before), changes));
    });

  return {
    stopNow: () => send({ action: 'stop' }, () => `All ranks stop at their next step. ${kept()}`),
    stopAtEpochEnd: () => send({ action: 'stop-at-epoch-end' }, () => 'All ranks stop at the end of their epoch.'),
    abort: () => toasts.attempt(() => hub.abort(run.id)),
    pause: () => send({ action: 'pause' }, () => 'Every rank pauses at its next step and keeps its device.'),
    unpause: () => send({ action: 'resume' }),
    checkpointNow,
    change,
    ...startCommands(hub, toasts, run),
  };
}

function startCommands(
  hub: HubApi,
  toasts: Pick<ReturnType<typeof useToastsStore>, 'attempt'>,
  run: Pick<RunStore, 'id' | 'refresh'>,
): Pick<RunCommands, 'resume' | 'resumeWith' | 'complete'> {
  const start = (rank: number | null, currentSource = false): Promise<void> =>
    toasts.attempt(async () => {
      await hub.resumeRun(run.id, {}, rank, currentSource);
      await run.refresh();
    });

  async function resume(ask: () => void): Promise<void> {
    await toasts.attempt(async () => {
      const { hasChangedCode = false } = await hub.previewResume(run.id, {});
      if (hasChangedCode) ask();
      else await start(null);
    });
  }

  return { resume, resumeWith: (code) => start(null, code === 'present'), complete: (rank) => start(rank) };
}

function changedNames(changes: SettingChanges) {
  return settingNames.filter((name) => changes[name] !== undefined);
}

function previousOf(changes: SettingChanges, before: SettingChanges): SettingChanges {
  return Object.fromEntries(changedNames(changes).map((name) => [name, before[name]]));
}

function describeChanges(changes: SettingChanges, before: SettingChanges): string {
  const words = changedNames(changes).map((name) => `${labelOfName(name)} ${before[name]} → ${changes[name]}`);
  return `${words.join(', ')}, from the next step of every rank.`;
}

interface ReportDownload {
  isWriting: Readonly<Ref<boolean>>;
  /** Has the report written, then downloads it; in the desktop app the system's dialog asks for its place. */
  save(): Promise<void>;
}

/** The report of a run as one HTML file. */
export function useReport(id: string): ReportDownload {
  const hub = useHub();
  const toasts = useToastsStore();
  const isWriting = ref(false);

  async function save(): Promise<void> {
    isWriting.value = true;
    await toasts.attempt(async () => {
      await saveExport(await hub.reportRun(id));
    });
    isWriting.value = false;
  }

  return { isWriting, save };
}

/** Downloads a file that the hub wrote, or lets the user of the desktop app choose its place. */
export async function saveExport({ path, link }: Pick<ExportResult, 'path' | 'link'>): Promise<void> {
  if (link === null) await window.tutti?.saveFile(path);
  else downloadFrom(link);
}

interface RankStop {
  /** Whether single ranks of this run can be stopped. Otherwise there is no button. */
  isOffered: ComputedRef<boolean>;
  /** Why this rank cannot be stopped now; null if it can. */
  whyNot(rank: RankView): string | null;
  /** The rank whose stop awaits confirmation. */
  asked: Ref<number | null>;
  confirm(): Promise<void>;
}

/** States of a rank with steps still to train. */
const trainingStates = new Set(['training', 'paused', 'evaluating']);

/** Stops one rank of a run while the others continue. */
export function useRankStop(run: RunStore): RankStop {
  const hub = useHub();
  const toasts = useToastsStore();
  const asked = ref<number | null>(null);
  const isOffered = computed(
    () => run.status === 'running' && run.view?.isInReach === true && whyNotStopRank(run.view.record.config) === null,
  );

  function whyNot({ rank, state }: RankView): string | null {
    if (!trainingStates.has(state)) return `Rank ${rank} is ${state}.`;
    const others = run.ranks.some((other) => other.rank !== rank && trainingStates.has(other.state));
    return others ? null : 'It is the last rank that trains. Stop the run instead.';
  }

  async function confirm(): Promise<void> {
    const rank = asked.value;
    asked.value = null;
    if (rank === null) return;
    await toasts.attempt(async () => {
      await hub.control(run.id, { action: 'stop-rank', rank });
      toasts.tell(`Rank ${rank} stops at its next step and keeps a checkpoint. The other ranks continue.`);
    });
  }

  return { isOffered, whyNot, asked, confirm };
}
