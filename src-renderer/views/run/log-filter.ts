import type { LogLine } from '../../../core/protocol/pages/run-views.ts';

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

export interface ScrollPosition {
  scrollTop: number;
  clientHeight: number;
  scrollHeight: number;
}
