import { type Ref, ref } from 'vue';

export interface RowKeysOptions {
  count(): number;
  pageRows(): number;
  /** Brings a row into sight. */
  show(index: number): void;
  open(index: number): void;
  toggle(index: number): void;
}

/** Moves through the rows of a table by keyboard; `active` is the row that keys act on. */
export function useRowKeys(options: RowKeysOptions): {
  active: Ref<number | null>;
  hear(event: KeyboardEvent): void;
} {
  const active = ref<number | null>(null);

  function target(key: string, at: number): number | null {
    switch (key) {
      case 'ArrowDown':
        return at + 1;
      case 'ArrowUp':
        return at - 1;
      case 'PageDown':
        return at + options.pageRows();
      case 'PageUp':
        return at - options.pageRows();
      case 'Home':
        return 0;
      case 'End':
        return options.count() - 1;
      default:
        return null;
    }
  }

  function hear(event: KeyboardEvent): void {
    // Keys typed in a row's own field or button are theirs.
    if (event.target !== event.currentTarget) return;
    const next = target(event.key, active.value ?? -1);
    if (next !== null) {
      active.value = Math.min(Math.max(next, 0), options.count() - 1);
      options.show(active.value);
    } else if (active.value !== null && event.key === 'Enter') options.open(active.value);
    else if (active.value !== null && event.key === ' ') options.toggle(active.value);
    else return;
    event.preventDefault();
  }
  return { active, hear };
}
