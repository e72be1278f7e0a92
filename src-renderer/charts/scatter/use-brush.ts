import { computed, type ComputedRef, ref } from 'vue';
import { clamp } from '../points/columns.ts';
import type { Plot } from '../scene/plot.ts';
import { brushOf, minimumDrag, type Rectangle } from './brush.ts';
import type { Brush } from './types.ts';

interface Corner {
  left: number;
  top: number;
}

export interface Dragging {
  /** What a drag would select; null while none goes on. */
  selection: ComputedRef<Rectangle | null>;
  begin(event: PointerEvent): void;
  move(event: PointerEvent, plot: Plot): void;
  /** @returns the values that the drag enclosed, null for a click; or null where the pointer was not pressed here */
  end(plot: Plot): { brush: Brush | null } | null;
}

/** A rectangle that the pointer draws over a plot. */
export function useBrush(): Dragging {
  const corners = ref<[Corner, Corner] | null>(null);
  const selection = computed(() => (corners.value === null ? null : rectangleOf(...corners.value)));

  function begin(event: PointerEvent): void {
    if (event.button !== 0 || !(event.currentTarget instanceof Element)) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    const corner = { left: event.offsetX, top: event.offsetY };
    corners.value = [corner, corner];
  }

  function move({ offsetX, offsetY }: PointerEvent, { area }: Plot): void {
    if (corners.value === null) return;
    const corner = { left: clamp(offsetX, area.left, area.right), top: clamp(offsetY, area.top, area.bottom) };
    corners.value = [corners.value[0], corner];
  }

  function end(plot: Plot): { brush: Brush | null } | null {
    const drawn = selection.value;
    corners.value = null;
    if (drawn === null) return null;
    return { brush: Math.max(drawn.width, drawn.height) < minimumDrag ? null : brushOf(drawn, plot) };
  }
  return { selection, begin, move, end };
}

function rectangleOf(one: Corner, other: Corner): Rectangle {
  return {
    left: Math.min(one.left, other.left),
    top: Math.min(one.top, other.top),
    width: Math.abs(one.left - other.left),
    height: Math.abs(one.top - other.top),
  };
}
