import { tutti } from '../../../core/text/program.ts';
import type { RunNotes as NoteChanges } from '../../../core/protocol/pages/run-views.ts';
import { printableLine } from '../../../core/text/printable.ts';
import type { Hub } from '../../hub/hub.ts';
import { changeRunNotes, readRunNotes } from '../../store/runs/run-notes.ts';
import { exitCodes, orUsageError, UsageError } from '../errors.ts';
import { withHub } from '../open-hub.ts';

export interface TagOptions {
  /** Remove the tags instead of adding them. */
  remove?: boolean;
}

export interface ArchiveOptions {
  undo?: boolean;
}

/** `tutti tag <run> [tags...]`: prints the run's tags after the change. @returns the exit code */
export function tag(run: string, tags: readonly string[], { remove = false }: TagOptions): Promise<number> {
  const wrong = tags.find((name) => name.trim() === '');
  if (wrong !== undefined) throw new UsageError(`"${wrong}" is no tag: a tag has a letter, digit or sign.`);
  if (remove && tags.length === 0) throw new UsageError('--remove needs the tags to remove.');
  return withHub(async (hub) => {
    const { folder } = await orUsageError(hub.find(run));
    const { tags: before } = await readRunNotes(folder);
    const after = changeTags(before, tags, remove);
    if (tags.length > 0) await annotate(hub, folder, { tags: after });
    process.stdout.write(after.map((name) => `${printableLine(name)}\n`).join(''));
    return exitCodes.finished;
  });
}

/** The tags after a change, each once, the earlier ones first. */
export function changeTags(before: readonly string[], named: readonly string[], isRemoval: boolean): string[] {
  if (isRemoval) return before.filter((name) => !named.includes(name));
  return [...new Set([...before, ...named])];
}

/** `tutti archive <runs...>`. @returns the exit code */
export function archive(runs: readonly string[], { undo = false }: ArchiveOptions): Promise<number> {
  return withHub(async (hub) => {
    // A run that is not found changes none.
    const found = await Promise.all(runs.map((run) => orUsageError(hub.find(run))));
    for (const { id, folder } of found) {
      await annotate(hub, folder, { isArchived: !undo });
      process.stdout.write(
        `${id} ${undo ? 'is in the lists again' : `is archived: \`${tutti} runs --archived\` lists it`}.\n`,
      );
    }
    return exitCodes.finished;
  });
}

async function annotate(hub: Hub, folder: string, changes: NoteChanges): Promise<void> {
  hub.index.annotate(folder, await changeRunNotes(folder, changes));
}
