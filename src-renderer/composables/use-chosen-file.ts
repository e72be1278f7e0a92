import { computed, type ComputedRef, type ShallowRef, shallowRef } from 'vue';
import { formatBytes } from '../../core/text/numbers.ts';
import { useSessionStore } from '../stores/session.ts';

export interface ChosenFile {
  file: ShallowRef<File | null>;
  /** Why a page cannot send it; null where it can. */
  problem: ComputedRef<string | null>;
  /** Takes the choice of an input. */
  choose(event: Event): void;
}

/**
 * A file that the user chooses.
 * @param limitBytes what a page sends at most; Infinity where nothing is sent
 * @param command of the terminal that takes larger ones
 */
export function useChosenFile(limitBytes: number, command: string): ChosenFile {
  const session = useSessionStore();
  const file = shallowRef<File | null>(null);
  const problem = computed(() => {
    if (file.value === null || file.value.size <= limitBytes) return null;
    const { name, size } = file.value;
    return `${name} has ${formatBytes(size)}; a page sends at most ${formatBytes(limitBytes)}. Import it with ${session.program} ${command}.`;
  });
  function choose(event: Event): void {
    file.value = (event.target as HTMLInputElement).files?.item(0) ?? null;
  }
  return { file, problem, choose };
}
