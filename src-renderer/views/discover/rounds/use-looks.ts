import { type Ref, shallowRef, watch } from 'vue';
import type { MoleculeDrawing } from '../../../../core/protocol/run/pool-task.ts';
import { messageOf } from '../../../../core/text/errors.ts';
import { useHub } from '../../../client/use-hub.ts';

/** What a candidate is. */
export interface Look {
  texts: Record<string, string>;
  drawing: MoleculeDrawing | null;
}

export interface Looks {
  /** By candidate, as far as they have been read. */
  looks: Readonly<Ref<ReadonlyMap<number, Look>>>;
  error: Readonly<Ref<string | null>>;
}

const mostAtOnce = 500;

/** Reads what candidates are, each once. */
export function useLooks(id: string, wanted: () => readonly number[]): Looks {
  const hub = useHub();
  const looks = shallowRef<ReadonlyMap<number, Look>>(new Map());
  const error = shallowRef<string | null>(null);
  const asked = new Set<number>();

  async function read(indices: number[]): Promise<void> {
    for (const index of indices) asked.add(index);
    try {
      const { texts, drawings } = await hub.discoveryCandidates(id, indices);
      const found = indices.map((index, at): [number, Look] => [
        index,
        { texts: textsAt(texts, at), drawing: drawings[at] },
      ]);
      looks.value = new Map([...looks.value, ...found]);
      error.value = null;
    } catch (reason) {
      // They are asked for again when they are next wanted.
      for (const index of indices) asked.delete(index);
      error.value = messageOf(reason);
      return;
    }
    readMissing(wanted());
  }

  /** Reads a part of what is missing; the rest follows its answer. */
  function readMissing(indices: readonly number[]): void {
    const missing = indices.filter((index) => !asked.has(index)).slice(0, mostAtOnce);
    if (missing.length > 0) void read(missing);
  }

  watch(wanted, readMissing, { immediate: true });
  return { looks, error };
}

/** The texts of one of several candidates, by column. */
export function textsAt(texts: Readonly<Record<string, string[]>>, at: number): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).map(([column, values]) => [column, values[at]]));
}
