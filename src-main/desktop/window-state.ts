import { readFile } from 'node:fs/promises';
import type { Rectangle } from 'electron';
import { z } from 'zod';
import { writeFileAtomic } from '../../core/node/atomic-file.ts';
import { errorCode, explainFileError } from '../../core/node/file-error.ts';

/** Smallest window that the pages are made for, in device-independent pixels. */
export const minimumSize = { width: 1024, height: 700 };
const initialSize = { width: 1280, height: 800 };
/** How much of a window's upper edge must be on a display for it to be taken hold of. */
const grip = { width: 100, height: 30 };

const windowStateSchema = z.strictObject({
  /** Where it stands while it is not maximised. */
  x: z.int(),
  y: z.int(),
  width: z.int().min(1),
  height: z.int().min(1),
  isMaximized: z.boolean(),
});
export type WindowState = z.output<typeof windowStateSchema>;

/** Null where none was kept. @throws when the file cannot be read or is damaged, with the remedy */
export async function readWindowState(path: string): Promise<WindowState | null> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw explainFileError(error, path, 'read');
  }
  try {
    return windowStateSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new Error(`${path} does not say where the window stood. Tutti replaces it when the window is closed.`, {
      cause,
    });
  }
}

export async function writeWindowState(path: string, state: WindowState): Promise<void> {
  await writeFileAtomic(path, `${JSON.stringify(state, null, 2)}\n`);
}

/**
 * Where a window opens: as it stood, where enough of its upper edge is on one of the displays; else only as large as it was, in
 * the middle of the first display.
 * @param workAreas what each display has room for, the first display first
 */
export function placeWindow(state: WindowState | null, workAreas: readonly Rectangle[]): Partial<Rectangle> {
  const { width, height } = state ?? initialSize;
  if (state !== null && workAreas.some((area) => holdsGrip(area, state)))
    return { x: state.x, y: state.y, width, height };
  const [first] = workAreas;
  return { width: Math.min(width, first.width), height: Math.min(height, first.height) };
}

function holdsGrip(area: Rectangle, { x, y, width }: WindowState): boolean {
  const overlap = Math.min(x + width, area.x + area.width) - Math.max(x, area.x);
  return overlap >= grip.width && y >= area.y && y + grip.height <= area.y + area.height;
}
