import { useIntervalFn } from '@vueuse/core';
import { watch } from 'vue';
import type { LogLine } from '../../../core/protocol/pages/run-views.ts';
import { useHub } from '../../client/use-hub.ts';
import { type Loaded, useLoaded } from '../../composables/use-loaded.ts';
import type { RunStore } from '../../stores/run.ts';

/** The page holds at most the newest lines. */
export const maximumLines = 20_000;
/** The hub does not announce new lines, so the page polls. */
const pollMs = 1_000;

/** The merged log of a run's ranks, read again every second while the run trains. */
export function useLogs(run: RunStore, shown: () => readonly number[]): Loaded<LogLine[]> {
  const hub = useHub();
  const logs = useLoaded(() => hub.logs(run.id, { ranks: [...shown()], limit: maximumLines }));
  useIntervalFn(() => {
    if (run.status === 'running' && !logs.isLoading.value) void logs.reload();
  }, pollMs);
  // The last lines arrive as the run ends.
  watch([() => shown().join(), () => run.status], () => void logs.reload());
  return logs;
}

/** Lines that contain all words of a search, in any order and case. */
export function filterLines(lines: readonly LogLine[], search: string): LogLine[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [...lines];
  return lines.filter(({ text }) => {
    const lower = text.toLowerCase();
    return words.every((word) => lower.includes(word));
  });
}

/** The severity that a line names, so that problems stand out. */
export function severityOf(text: string): 'error' | 'warning' | null {
  if (/\b(error|fatal|exception|panic)\b/i.test(text)) return 'error';
  return /\b(warn|warning|deprecated)\b/i.test(text) ? 'warning' : null;
}

/** Whether a list is scrolled to its end, within a few pixels, since browsers round. */
export function isAtEnd({ scrollTop, clientHeight, scrollHeight }: ScrollPosition): boolean {
  return scrollHeight - scrollTop - clientHeight <= 8;
}

interface ScrollPosition {
  scrollTop: number;
  clientHeight: number;
  scrollHeight: number;
}
