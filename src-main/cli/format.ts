import { formatDuration as formatSeconds } from '../../core/text/numbers.ts';

/** A duration in its two largest units: `12 s`, `3 m 12 s`, `1 h 04 m`, `2 d 03 h`. */
export function formatDuration(durationMs: number): string {
  return formatSeconds(Math.round(durationMs / 1000), true);
}
