import { onScopeDispose } from 'vue';

/** New points are drawn together, about ten times a second: more often shows nothing more, and takes the machine from training. */
const dataIntervalMs = 95;

export interface Frames {
  /** Asks for a drawing because data has come. */
  later(): void;
  /** Asks for a drawing in the next frame, as someone waits for it. */
  soon(): void;
}

/** Calls `draw` in animation frames, once for all that asked. */
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
