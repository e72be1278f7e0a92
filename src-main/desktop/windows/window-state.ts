import { readFileSync } from 'node:fs';
import type { Rectangle } from 'electron';
import { z } from 'zod';
import { writeFileAtomic } from '../../../core/node/atomic-file.ts';
import { errorCode, explainFileError } from '../../../core/node/file-error.ts';

/** Minimum size of a window, in device-independent pixels. */
export const minimumSize = { width: 1024, height: 700 };
const initialSize = { width: 1280, height: 800 };
/** How much of a window's upper edge must be on a display, so that the user can move the window. */
const grip = { width: 100, height: 30 };
/** How far a further window lies from the one before, to the right and down. */
const cascade = 32;

const windowStateSchema = z.strictObject({
  /** Position and size while it is not maximised. */
  x: z.int(),
  y: z.int(),
  width: z.int().min(1),
  height: z.int().min(1),
  isMaximized: z.boolean(),
  /** What its page shows: the part of its address after `#`. */
  address: z.string(),
});
export type WindowState = z.output<typeof windowStateSchema>;

export const themeSchema = z.enum(['system', 'light', 'dark']);

const desktopStateSchema = z.strictObject({
  /** The windows that were open, the one in front last. */
  windows: z.array(windowStateSchema),
  /** All windows have the same: 1 is 100 %. */
  zoom: z.number().min(0.1).max(10),
  /** The theme of the pages, with which a window begins before its page has loaded. */
  theme: themeSchema,
});
/** What the desktop app restores when it starts. */
export type DesktopState = z.output<typeof desktopStateSchema>;

export const initialState: DesktopState = { windows: [], zoom: 1, theme: 'system' };

/**
 * What the app had open last; {@link initialState} if it never ran. Synchronously, because an answer to an asynchronous
 * read comes some 40 ms later in a process that starts. @throws Error with the remedy if the file cannot be read or is
 * damaged
 */
export function readDesktopState(path: string): DesktopState {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return initialState;
    throw explainFileError(error, path, 'read');
  }
  try {
    return desktopStateSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new Error(
      `${path} is damaged: it does not hold the positions of the windows. Tutti replaces it when a window is ` +
        'moved or closed.',
      { cause },
    );
  }
}

export async function writeDesktopState(path: string, state: DesktopState): Promise<void> {
  await writeFileAtomic(path, `${JSON.stringify(state, null, 2)}\n`);
}

/**
 * The position and size of a window: those that it had if enough of its upper edge is on a display, else its size in
 * the middle of the first display.
 * @param state null for the first window of all
 * @param workAreas usable area of each display
 */
export function placeWindow(
  state: Omit<WindowState, 'address' | 'isMaximized'> | null,
  workAreas: readonly Rectangle[],
): Partial<Rectangle> {
  const { width, height } = state ?? initialSize;
  if (state !== null && workAreas.some((area) => holdsGrip(area, state)))
    return { x: state.x, y: state.y, width, height };
  const [first] = workAreas;
  return { width: Math.min(width, first.width), height: Math.min(height, first.height) };
}

/** Where a further window belongs: as large as the one in front, a little lower and to the right. */
export function besideWindow({ x, y, width, height }: Rectangle): Rectangle {
  return { x: x + cascade, y: y + cascade, width, height };
}

function holdsGrip(area: Rectangle, { x, y, width }: Rectangle): boolean {
  const overlap = Math.min(x + width, area.x + area.width) - Math.max(x, area.x);
  return overlap >= grip.width && y >= area.y && y + grip.height <= area.y + area.height;
}
