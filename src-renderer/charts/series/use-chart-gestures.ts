import { computed, type ComputedRef, ref, type ShallowRef } from 'vue';
import { panBy, part, pixels, valueAt, zoomAround } from '../scene/axes.ts';
import type { PlotArea } from '../scene/plot.ts';
import { readoutAt } from './readout.ts';
import type { ChartRange, ChartView } from '../types.ts';
import type { Drawn } from './use-series-chart.ts';

/** How near, in pixels, the pointer must be to a rank's line to single it out. */
const reach = 10;
/** A drag shorter than this is a click. */
const minimumDrag = 4;
const wheelZoom = 1.25;

/** Share of the visible width: one step of the cursor, and of panning. */
const cursorStep = 0.01;
const panStep = 0.2;

export interface ChartGestures {
  /** Where a drag would zoom to, in pixels. */
  selection: ComputedRef<ChartRange | null>;
  /** For `v-on`. */
  listeners: Record<string, (event: never) => void>;
}

/** Moves the shared cursor and zoom by pointer, wheel and keys. */
export function useChartGestures(view: ChartView, drawn: Readonly<ShallowRef<Drawn | null>>): ChartGestures {
  const drag = ref<{ from: number; to: number; isPan: boolean } | null>(null);
  const selection = computed(() => {
    if (drag.value === null || drag.value.isPan) return null;
    const { from, to } = drag.value;
    return { from: Math.min(from, to), to: Math.max(from, to) };
  });

  function zoomTo(range: ChartRange, { whole }: Drawn['scene']): void {
    if (!(range.to > range.from)) return;
    view.zoom = range.from <= whole.from && range.to >= whole.to ? null : range;
  }

  function pointermove(event: PointerEvent): void {
    if (drawn.value === null) return;
    const { area, scene } = drawn.value;
    view.cursorX = valueAt(scene.x, fractionAt(area, event.offsetX));
    if (drag.value === null) {
      view.hoveredRank = rankNear(drawn.value, view.cursorX, event.offsetY);
    } else if (drag.value.isPan) {
      const moved = fractionAt(area, drag.value.to) - fractionAt(area, event.offsetX);
      zoomTo(panBy(scene.x, moved, scene.whole), scene);
      drag.value = { ...drag.value, to: clamp(event.offsetX, area.left, area.right) };
    } else {
      drag.value = { ...drag.value, to: clamp(event.offsetX, area.left, area.right) };
    }
  }

  function pointerdown(event: PointerEvent): void {
    if (event.button !== 0 || !(event.currentTarget instanceof Element)) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    drag.value = { from: event.offsetX, to: event.offsetX, isPan: event.shiftKey };
  }

  function pointerup(): void {
    const selected = selection.value;
    drag.value = null;
    if (selected === null || drawn.value === null || selected.to - selected.from < minimumDrag) return;
    const { area, scene } = drawn.value;
    zoomTo(part(scene.x, fractionAt(area, selected.from), fractionAt(area, selected.to)), scene);
  }

  function pointerleave(): void {
    view.cursorX = null;
    view.hoveredRank = null;
  }

  /** The wheel scrolls the page until the chart has been clicked or Ctrl is held: a page of charts would hold it up. */
  function wheel(event: WheelEvent): void {
    const isMeant = event.ctrlKey || event.metaKey || document.activeElement === event.currentTarget;
    if (drawn.value === null || !isMeant) return;
    event.preventDefault();
    const { area, scene } = drawn.value;
    const fraction = fractionAt(area, event.offsetX);
    zoomTo(zoomAround(scene.x, fraction, event.deltaY > 0 ? wheelZoom : 1 / wheelZoom, scene.whole), scene);
  }

  function keydown(event: KeyboardEvent): void {
    if (drawn.value === null || event.ctrlKey || event.metaKey || event.altKey) return;
    const action = keyAction(event, view, drawn.value.scene);
    if (action === null) return;
    event.preventDefault();
    event.stopPropagation();
    if ('zoom' in action) zoomTo(action.zoom, drawn.value.scene);
    else view.cursorX = action.cursor;
  }

  const listeners = {
    pointermove,
    pointerdown,
    pointerup,
    pointerleave,
    wheel,
    keydown,
    dblclick: () => view.resetZoom(),
  };
  return { selection, listeners };
}

/** Arrows move the cursor, with Shift the window; + and - zoom around the cursor; Home and End go to the ends; Escape and z clear. */
function keyAction(
  { key, shiftKey }: KeyboardEvent,
  { cursorX }: ChartView,
  { x, whole }: Drawn['scene'],
): { zoom: ChartRange } | { cursor: number | null } | null {
  const at = cursorX === null ? 0.5 : pixels(x, 0, 1)(cursorX);
  const direction = key === 'ArrowLeft' ? -1 : 1;
  switch (key) {
    case 'ArrowLeft':
    case 'ArrowRight':
      if (shiftKey) return { zoom: panBy(x, direction * panStep, whole) };
      return { cursor: valueAt(x, clamp(cursorX === null ? 0.5 : at + direction * cursorStep, 0, 1)) };
    case '+':
    case '=':
      return { zoom: zoomAround(x, clamp(at, 0, 1), 0.5, whole) };
    case '-':
      return { zoom: zoomAround(x, clamp(at, 0, 1), 2, whole) };
    case 'Home':
      return { cursor: x.from };
    case 'End':
      return { cursor: x.to };
    case 'z':
      return { zoom: whole };
    case 'Escape':
      return { cursor: null };
    default:
      return null;
  }
}

/** The rank whose line passes the pointer closest, if one is within reach. */
function rankNear({ scene, area }: Drawn, x: number, pixel: number): number | null {
  const y = pixels(scene.y, area.bottom, area.top);
  const distances = readoutAt(scene.lines, x)
    .map(({ rank, value }) => ({ rank, distance: Math.abs(y(value) - pixel) }))
    .filter(({ distance }) => distance <= reach)
    .sort((a, b) => a.distance - b.distance);
  return distances.at(0)?.rank ?? null;
}

/** Where a pixel stands between the plot's left (0) and right (1) edge; beyond them it counts as on them. */
function fractionAt({ left, right }: PlotArea, pixel: number): number {
  return (clamp(pixel, left, right) - left) / (right - left);
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}
