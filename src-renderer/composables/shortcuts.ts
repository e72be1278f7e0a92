/** The keyboard shortcuts of the pages, as the help dialog lists them. */
export interface Shortcut {
  /** One key, or several in sequence: `g p`. `mod` is ctrl, and cmd on a Mac. */
  keys: string;
  does: string;
}

export const everywhere = [
  { keys: 'g p', does: 'Go to projects' },
  { keys: 'g r', does: 'Go to runs' },
  { keys: 'g t', does: 'Go to studies' },
  { keys: 'g s', does: 'Go to settings and health' },
  { keys: '/', does: 'Search runs' },
  { keys: 'mod+k', does: 'Find a page, run or command' },
  { keys: '?', does: 'Show these keys' },
] as const satisfies Shortcut[];

/** The run page binds these itself. */
export const onRunPage = [
  { keys: '1 .. 9', does: 'Show or hide rank 0 to 8' },
  { keys: '0', does: 'Show all ranks' },
  { keys: 'l', does: 'Logarithmic y axis' },
  { keys: 'x', does: 'Next x axis: steps, epochs, time' },
  { keys: 's', does: 'Smoothing' },
  { keys: 'z', does: 'Reset zoom' },
  { keys: 'space', does: 'Pause or resume' },
  { keys: '.', does: 'Stop jointly' },
  { keys: 'c', does: 'Checkpoint now' },
] as const satisfies Shortcut[];

export const onCharts = [
  { keys: 'left / right', does: 'Move the cursor in all charts; with shift, pan' },
  { keys: 'up / down', does: 'Single out the next line at the cursor' },
  { keys: '+ / -', does: 'Zoom around the cursor' },
  { keys: 'home / end', does: 'Move the cursor to an end; escape hides it' },
  { keys: 'enter', does: 'Go to the tools of the chart: left and right choose one, escape goes back' },
  { keys: 'shift+arrows', does: 'On the tool that moves or resizes the chart: do so' },
] as const satisfies Shortcut[];

export const inRunTable = [
  { keys: 'up / down', does: 'Move through the rows' },
  { keys: 'enter', does: 'Open the run' },
  { keys: 'space', does: 'Select the run for comparison' },
] as const satisfies Shortcut[];

export const inCheckpoints = [
  { keys: 'arrows', does: 'Move through the squares' },
  { keys: 'space', does: 'Select; with shift, a range' },
  { keys: 'k', does: 'Pin or unpin' },
  { keys: 'delete', does: 'Delete; undo within 10 s' },
] as const satisfies Shortcut[];

export const inSamples = [
  { keys: 'j / k', does: 'Open the next or previous sample' },
  { keys: 'escape', does: 'Close the sample' },
] as const satisfies Shortcut[];

export const inStudies = [
  { keys: 'up / down', does: 'On an end of an axis: move it; in the table: move through the trials' },
  { keys: 'escape', does: 'On an end of an axis: select the whole axis' },
  { keys: 'space', does: 'Pick the trial for an ensemble' },
  { keys: 'l', does: 'Logarithmic objective' },
  { keys: 'z', does: 'Select all trials' },
] as const satisfies Shortcut[];

/** The parts of a key press that shortcuts need. */
interface KeyPress {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
}

/** The longest pause between two keys of a sequence. */
const pauseMs = 1000;

/** Recognises shortcuts such as `g p`, `mod+k` and `?` in a stream of key presses. */
export class KeySequences {
  readonly #shortcuts: readonly string[];
  /** The keys of a sequence that is not complete yet. */
  #begun = '';
  #lastMs = -Infinity;

  constructor(shortcuts: readonly string[]) {
    this.#shortcuts = shortcuts;
  }

  /** @returns the shortcut that this press completes, else null */
  press(press: KeyPress, nowMs: number): string | null {
    const name = nameOf(press);
    const begun = nowMs - this.#lastMs <= pauseMs ? this.#begun : '';
    this.#lastMs = nowMs;
    const typed = begun === '' ? name : `${begun} ${name}`;
    const complete = this.#find(typed) ?? this.#find(name);
    this.#begun = complete === null && this.#shortcuts.some((keys) => keys.startsWith(`${name} `)) ? name : '';
    return complete;
  }

  #find(typed: string): string | null {
    return this.#shortcuts.find((keys) => keys === typed) ?? null;
  }
}

function nameOf({ key, ctrlKey, metaKey, altKey }: KeyPress): string {
  const name = key === ' ' ? 'space' : key.length === 1 ? key.toLowerCase() : key;
  if (altKey) return `alt+${name}`;
  return ctrlKey || metaKey ? `mod+${name}` : name;
}
