import { readFile } from 'node:fs/promises';
import type { Rectangle } from 'electron';
import { z } from 'zod';
import { writeFileAtomic } from '../../core/node/atomic-file.ts';
import { errorCode, explainFileError } from '../../core/node/file-error.ts';

/** Minimum size of the window, in device-independent pixels. */
export const minimumSize = { width: 1024, height: 700 };
const initialSize = { width: 1280, height: 800 };
/** How much of a window's upper edge must be on a display, so that the user can move the window. */
const grip = { width: 100, height: 30 };

const windowStateSchema = z.strictObject({
  /** Position and size while it is not maximised. */
  x: z.int(),
  y: z.int(),
  width: z.int().min(1),
  height: z.int().min(1),
  isMaximized: z.boolean(),
});
export type WindowState = z.output<typeof windowStateSchema>;

/** The last state of the window; null if there is none. @throws Error with the remedy if the file cannot be read or is damaged */
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
    throw new Error(
      `${path} is damaged: it does not hold the position of the window. Tutti replaces it when the window is closed.`,
      {
        cause,
      },
    );
  }
}

export async function writeWindowState(path: string, state: WindowState): Promise<void> {
  await writeFileAtomic(path, `${JSON.stringify(state, null, 2)}\n`);
}

/**
 * The position and size of a new window: the last ones if enough of its upper edge is on a display, else the last size in the middle of
 * the first display.
 * @param workAreas usable area of each display
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
