import { computed, type ComputedRef, ref, type Ref, type ShallowRef } from 'vue';
import { panBy, part, valueAt, zoomAround } from '../scene/axes.ts';
import type { ChartRange, ChartView } from '../types.ts';
import { clamp } from '../points/columns.ts';
import { fractionAt, keyAction, rankNear, zoomedTo } from './gestures.ts';
import type { Drawn } from './use-series-chart.ts';

/** A drag shorter than this is a click, in pixels. */
const minimumDrag = 4;
const wheelZoom = 1.25;

/** From the pixel where the pointer went down to where it is. With Shift it pans, else it selects what to zoom to. */
interface Drag extends ChartRange {
  isPan: boolean;
}

/** What moved the cursor last. */
export type Reader = 'pointer' | 'keys';

export interface ChartGestures {
  /** Where a drag would zoom to, in pixels. */
  selection: ComputedRef<ChartRange | null>;
  /** Who reads values at the cursor in this chart; null while nobody does. */
  reader: Readonly<Ref<Reader | null>>;
  /** For `v-on`. */
  listeners: Record<string, (event: never) => void>;
}

/** Moves the shared cursor and zoom by pointer, wheel and keys. */
export function useChartGestures(view: ChartView, drawn: Readonly<ShallowRef<Drawn | null>>): ChartGestures {
  const reader = ref<Reader | null>(null);
  const { selection, pointermove, ...dragging } = useDrag(view, drawn);
  const leave = (): void => {
    reader.value = null;
    Object.assign(view, { cursorX: null, hoveredRank: null });
  };
  const listeners = {
    ...dragging,
    pointermove: (event: PointerEvent) => {
      reader.value = 'pointer';
      pointermove(event);
    },
    pointerleave: leave,
    blur: () => reader.value === 'keys' && leave(),
    wheel: (event: WheelEvent) => drawn.value !== null && zoomByWheel(event, view, drawn.value),
    keydown: (event: KeyboardEvent) => {
      if (drawn.value !== null && actOnKey(event, view, drawn.value)) reader.value = 'keys';
    },
    dblclick: () => view.resetZoom(),
  };
  return { selection, reader, listeners };
}

function useDrag(view: ChartView, drawn: Readonly<ShallowRef<Drawn | null>>) {
  const drag = ref<Drag | null>(null);
  const selection = computed(() => (drag.value === null || drag.value.isPan ? null : ordered(drag.value)));

  function pointerdown(event: PointerEvent): void {
    if (event.button !== 0 || !(event.currentTarget instanceof Element)) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    drag.value = { from: event.offsetX, to: event.offsetX, isPan: event.shiftKey };
  }

  function pointermove({ offsetX, offsetY }: PointerEvent): void {
    if (drawn.value === null) return;
    const { area, scene } = drawn.value;
    view.cursorX = valueAt(scene.x, fractionAt(area, offsetX));
    if (drag.value === null) {
      view.hoveredRank = rankNear(scene, area, view.cursorX, offsetY);
      return;
    }
    if (drag.value.isPan) {
      const moved = fractionAt(area, drag.value.to) - fractionAt(area, offsetX);
      zoomTo(view, panBy(scene.x, moved, scene.whole), drawn.value);
    }
    drag.value = { ...drag.value, to: clamp(offsetX, area.left, area.right) };
  }

  function pointerup(): void {
    const selected = selection.value;
    drag.value = null;
    if (selected === null || drawn.value === null || selected.to - selected.from < minimumDrag) return;
    const { area, scene } = drawn.value;
    zoomTo(view, part(scene.x, fractionAt(area, selected.from), fractionAt(area, selected.to)), drawn.value);
  }

  return { selection, pointerdown, pointermove, pointerup };
}

function ordered({ from, to }: ChartRange): ChartRange {
  return { from: Math.min(from, to), to: Math.max(from, to) };
}

function zoomTo(view: ChartView, range: ChartRange, { scene }: Drawn): void {
  view.zoom = zoomedTo(range, scene.whole, view.zoom);
}

/** The wheel scrolls the page unless the chart has been clicked or Ctrl is held: a page of charts would trap it. */
function zoomByWheel(event: WheelEvent, view: ChartView, drawn: Drawn): void {
  const isMeant = event.ctrlKey || event.metaKey || document.activeElement === event.currentTarget;
  if (!isMeant) return;
  event.preventDefault();
  const { area, scene } = drawn;
  const factor = event.deltaY > 0 ? wheelZoom : 1 / wheelZoom;
  zoomTo(view, zoomAround(scene.x, fractionAt(area, event.offsetX), factor, scene.whole), drawn);
}

/** @returns whether the key means something here */
function actOnKey(event: KeyboardEvent, view: ChartView, drawn: Drawn): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  const action = keyAction(event, view, drawn.scene);
  if (action === null) return false;
  event.preventDefault();
  event.stopPropagation();
  if ('zoom' in action) zoomTo(view, action.zoom, drawn);
  else if ('rank' in action) view.hoveredRank = action.rank;
  else {
    view.cursorX = action.cursor;
    if (action.cursor === null) view.hoveredRank = null;
  }
  return true;
}
