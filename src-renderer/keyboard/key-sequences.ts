/** The parts of a key press that shortcuts need. */
export interface KeyPress {
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
