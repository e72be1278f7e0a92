import { onScopeDispose } from 'vue';

/** New points are drawn about ten times a second. More often would show nothing more and slow down training. */
const dataIntervalMs = 95;

export interface Frames {
  /** Requests a drawing because data arrived. */
  later(): void;
  /** Requests a drawing in the next frame, because a user waits for it. */
  soon(): void;
}

/** Calls `draw` in animation frames, once for all requests. */
export function useFrames(draw: () => void): Frames {
  let handle = 0;
  let isUrgent = false;
  let drawnAtMs = -Infinity;

  function frame(nowMs: number): void {
    handle = 0;
    if (!isUrgent && nowMs - drawnAtMs < dataIntervalMs) {
      later();
      return;
    }
    isUrgent = false;
    drawnAtMs = nowMs;
    draw();
  }
  function later(): void {
    if (handle === 0) handle = requestAnimationFrame(frame);
  }
  function soon(): void {
    isUrgent = true;
    later();
  }
  onScopeDispose(() => cancelAnimationFrame(handle));
  return { later, soon };
}
