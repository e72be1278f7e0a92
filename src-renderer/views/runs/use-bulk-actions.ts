import { maximumRunRows, type RunRow } from '../../../core/protocol/pages/run-list.ts';
import { downloadFrom } from '../../charts/frame/download.ts';
import { useHub } from '../../client/use-hub.ts';
import { useRunsStore } from '../../stores/lists.ts';
import { useToastsStore } from '../../stores/toasts.ts';
import { messageOf } from '../../../core/text/errors.ts';

export interface BulkActions {
  archive(isArchived: boolean): Promise<void>;
  remove(): Promise<void>;
  stop(): Promise<void>;
  tag(added: readonly string[], removed: readonly string[]): Promise<void>;
  /** Writes a ZIP of each run, without the formats that rebuild models, and downloads them. */
  exportAll(): Promise<void>;
}

const formats = ['record', 'csv', 'jsonl', 'tensorboard', 'checkpoints', 'logs', 'plots'];

/**
 * The actions on all selected runs; a selected sweep stands for its runs. A toast says what happened and offers to undo
 * it.
 * @param selected ids of runs and sweeps
 */
export function useBulkActions(selected: () => readonly string[]): BulkActions {
  const hub = useHub();
  const runs = useRunsStore();
  const forAll = useForAll(selected);
  return {
    archive: (isArchived) =>
      forAll(
        isArchived ? 'archived' : 'restored from the archive',
        ({ id }) => runs.update(id, { isArchived }),
        ({ id, isArchived: before }) => runs.update(id, { isArchived: before }),
      ),
    remove: () =>
      forAll(
        'deleted',
        ({ id }) => hub.deleteRun(id),
        ({ id }) => hub.undoDelete(id),
      ),
    stop: () => forAll('told to stop', (row) => stopRun(hub, row)),
    tag: (added, removed) =>
      forAll(
        'tagged',
        ({ id, tags }) => runs.update(id, { tags: retagged(tags, added, removed) }),
        ({ id, tags }) => runs.update(id, { tags }),
      ),
    exportAll: () => forAll('exported', (row) => exportRun(hub, row)),
  };
}

/** Does the same with all selected runs; `undo` reverts it for one run. */
type ForAll = (
  what: string,
  act: (row: RunRow) => Promise<unknown>,
  undo?: (row: RunRow) => Promise<void>,
) => Promise<void>;

function useForAll(selected: () => readonly string[]): ForAll {
  const hub = useHub();
  const toasts = useToastsStore();

  function fail({ failed }: Outcome<RunRow>): void {
    const message = toldFailures(failed);
    if (message !== null) toasts.fail(new Error(message));
  }
  return (what, act, undo) =>
    toasts.attempt(async () => {
      const outcome = await actOnAll(await rowsOf(hub, selected()), act);
      const names = outcome.done.map(({ name }) => name);
      const revert = undo && (async () => fail(await actOnAll(outcome.done, undo)));
      if (names.length > 0) toasts.tell(toldOf(names, what), revert);
      fail(outcome);
    });
}

/** The runs with these ids, and those of the sweeps with these ids. */
async function rowsOf(hub: ReturnType<typeof useHub>, selected: readonly string[]): Promise<RunRow[]> {
  const ids = [...selected];
  const [own, ofSweeps] = await Promise.all([
    hub.runs({ ids, limit: maximumRunRows }),
    hub.runs({ sweeps: ids, limit: maximumRunRows }),
  ]);
  return [...new Map([...own.rows, ...ofSweeps.rows].map((row) => [row.id, row])).values()];
}

async function exportRun(hub: ReturnType<typeof useHub>, { id }: RunRow): Promise<void> {
  const { path, link } = await hub.exportRun(id, { formats, checkpoints: null });
  if (link === null) await window.tutti?.saveFile(path);
  else downloadFrom(link);
}

/** Stops a run jointly. @throws for a run that does not train */
async function stopRun(hub: ReturnType<typeof useHub>, { id, status }: RunRow): Promise<void> {
  if (status !== 'running') throw new Error(`It is ${status}, so that there is nothing to stop.`);
  await hub.control(id, { action: 'stop' });
}

/** What became of an action on several runs. */
interface Outcome<T> {
  done: T[];
  failed: { subject: T; message: string }[];
}

/** Does the same with each subject, one after the other: a failure stops none of the others. */
async function actOnAll<T>(subjects: readonly T[], act: (subject: T) => Promise<unknown>): Promise<Outcome<T>> {
  const outcome: Outcome<T> = { done: [], failed: [] };
  for (const subject of subjects) {
    try {
      await act(subject);
      outcome.done.push(subject);
    } catch (error) {
      outcome.failed.push({ subject, message: messageOf(error) });
    }
  }
  return outcome;
}

/** `3 runs were archived.`, `wide was archived.` */
function toldOf(names: readonly string[], what: string): string {
  return names.length === 1 ? `${names[0]} was ${what}.` : `${names.length} runs were ${what}.`;
}

/** Why some of the runs were left as they are; null if there are none. */
export function toldFailures(failed: Outcome<{ name: string }>['failed']): string | null {
  if (failed.length === 0) return null;
  const [first, ...others] = failed.map(({ subject, message }) => `${subject.name}: ${message}`);
  return others.length === 0 ? first : `${first}\nAnd ${others.length} more.`;
}

/** The tags of a run after some were added and others removed. */
export function retagged(tags: readonly string[], added: readonly string[], removed: readonly string[]): string[] {
  return [...new Set([...tags.filter((tag) => !removed.includes(tag)), ...added])];
}

/** The tags in a text, separated by commas. */
export function tagsIn(text: string): string[] {
  return [
    ...new Set(
      text
        .split(',')
        .map((tag) => tag.trim())
        .filter(Boolean),
    ),
  ];
}
