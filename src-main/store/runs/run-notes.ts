import { z } from 'zod';
import { checkpointKeySchema, type CheckpointKey } from '../../../core/protocol/run/checkpoint-tasks.ts';
import { runNotesSchema, type RunNotes as NoteChanges } from '../../../core/protocol/pages/run-views.ts';
import { errorCode, explainFileError } from '../../../core/node/file-error.ts';
import { messageOf } from '../../../core/text/errors.ts';
import { ForeignEntryError, readOwnText } from '../../../core/node/own-files.ts';
import { writeOwnFile } from '../../../core/node/own-folders.ts';
import { runPaths } from './run-folder.ts';
import { withRunLock } from './hub-lock.ts';

/**
 * `notes.json`: the user's notes on a run. Keys that this version does not know are kept: another version may have
 * written them.
 */
const notesSchema = z.looseObject({
  ...runNotesSchema.shape,
  tags: z.array(z.string().min(1)).default([]),
  note: z.string().default(''),
  isArchived: z.boolean().default(false),
  /** May contain pins of checkpoints that no longer exist. */
  pinnedCheckpoints: z.array(checkpointKeySchema).default([]),
});
export type RunNotes = z.output<typeof notesSchema>;

/**
 * The notes on a run, or none and the reason where they cannot be read: a run is listed and works without its notes.
 */
export async function readNotesIfWhole(folder: string): Promise<{ notes: RunNotes; problem: string | null }> {
  try {
    return { notes: await readRunNotes(folder), problem: null };
  } catch (error) {
    return { notes: notesSchema.parse({}), problem: messageOf(error) };
  }
}

/** The notes on a run; empty if there are none. @throws Error if the file is damaged */
export async function readRunNotes(folder: string): Promise<RunNotes> {
  const path = runPaths(folder).notes;
  try {
    return notesSchema.parse(JSON.parse(await readOwnText(folder, 'notes.json')));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return notesSchema.parse({});
    if (error instanceof ForeignEntryError) throw error;
    if (errorCode(error) !== null) throw explainFileError(error, path, 'read');
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
    throw new Error(`${path} is damaged: ${reason}\nCorrect or remove it; the run itself does not need it.`, {
      cause: error,
    });
  }
}

/** Changes the given fields of the notes. @returns the new notes */
export function changeRunNotes(folder: string, changes: NoteChanges): Promise<RunNotes> {
  return rewriteNotes(folder, (notes) => ({ ...notes, ...changes }));
}

/** Pins checkpoints, or removes their pins. Other pins stay. */
export async function pinCheckpoints(folder: string, keys: readonly CheckpointKey[], isPinned: boolean): Promise<void> {
  await rewriteNotes(folder, (notes) => {
    const others = notes.pinnedCheckpoints.filter((pinned) => !keys.some((key) => isSame(key, pinned)));
    return { ...notes, pinnedCheckpoints: isPinned ? [...others, ...keys] : others };
  });
}

/** Whether two keys mean the same checkpoint. */
export function isSame(one: CheckpointKey, other: CheckpointKey): boolean {
  return one.rank === other.rank && one.name === other.name;
}

function rewriteNotes(folder: string, change: (notes: RunNotes) => RunNotes): Promise<RunNotes> {
  return withRunLock(folder, async () => {
    const notes = change(await readRunNotes(folder));
    await writeOwnFile(folder, 'notes.json', `${JSON.stringify(notes, null, 2)}\n`);
    return notes;
  });
}
