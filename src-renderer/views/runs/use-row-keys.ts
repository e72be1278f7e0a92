import { type Ref, ref } from 'vue';

export interface RowKeysOptions {
  count: () => number;
  pageRows: () => number;
  /** Scrolls a row into view. */
  show(index: number): void;
  open(index: number): void;
  toggle(index: number): void;
  /**
   * Selects the rows from the one that was chosen last up to this one. Absent, with `selectAll`, where rows are chosen
   * one by one.
   */
  extend?(index: number): void;
  selectAll?(): void;
}

/**
 * Moves through the rows of a table by keyboard; `active` is the row that Enter and Space act on. With Shift, moving
 * selects.
 */
export function useRowKeys(options: RowKeysOptions): {
  active: Ref<number | null>;
  handle(event: KeyboardEvent): void;
} {
  const active = ref<number | null>(null);

  function handle(event: KeyboardEvent): void {
    // A field or button inside a row handles its own keys.
    if (event.target !== event.currentTarget) return;
    const next = rowAfter(event.key, active.value ?? -1, options);
    if (next !== null) {
      active.value = Math.min(Math.max(next, 0), options.count() - 1);
      options.show(active.value);
      if (event.shiftKey) options.extend?.(active.value);
    } else if (!act(event, active.value, options)) return;
    event.preventDefault();
  }
  return { active, handle };
}

/** What a key does that does not move. @returns whether it does something */
function act({ key, shiftKey, ctrlKey, metaKey }: KeyboardEvent, at: number | null, options: RowKeysOptions): boolean {
  if (key.toLowerCase() === 'a' && (ctrlKey || metaKey) && options.selectAll !== undefined) options.selectAll();
  else if (at === null) return false;
  else if (key === 'Enter') options.open(at);
  else if (key === ' ' && shiftKey && options.extend !== undefined) options.extend(at);
  else if (key === ' ') options.toggle(at);
  else return false;
  return true;
}

/** The row that a key moves to, which may lie outside the table; null for a key that does not move. */
function rowAfter(key: string, at: number, { count, pageRows }: RowKeysOptions): number | null {
  switch (key) {
    case 'ArrowDown':
      return at + 1;
    case 'ArrowUp':
      return at - 1;
    case 'PageDown':
      return at + pageRows();
    case 'PageUp':
      return at - pageRows();
    case 'Home':
      return 0;
    case 'End':
      return count() - 1;
    default:
      return null;
  }
}
