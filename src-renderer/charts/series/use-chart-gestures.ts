import { computed, type ComputedRef, ref, type Ref, type ShallowRef } from 'vue';
import { panBy, part, pixels, valueAt, zoomAround } from '../scene/axes.ts';
import type { ChartRange, ChartView, ChartViewState } from '../types.ts';
import { clamp } from '../columns.ts';
import type { Drawn } from './use-series-chart.ts';
import type { PlotArea } from '../scene/plot.ts';
import type { Scene } from '../scene/scene.ts';
import { nextRank, readoutAt } from './readout.ts';

/** A drag shorter than this is a click, in pixels. */
const minimumDrag = 4;
const wheelZoom = 1.25;

/** From the pixel where the pointer went down to where it is. With Shift it pans, else it selects what to zoom to. */
interface Drag extends ChartRange {
  isPan: boolean;
}

/** What moved the cursor last. */
type Reader = 'pointer' | 'keys';

interface ChartGestures {
  /** Where a drag would zoom to, in pixels. */
  selection: ComputedRef<ChartRange | null>;
  /** Who reads values at the cursor in this chart; null while nobody does. */
  reader: Readonly<Ref<Reader | null>>;
  /** The listeners for `v-on`. */
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

/** How near, in pixels, the pointer must be to a rank's line to single it out. */
const reach = 10;
/** One step of the cursor and of panning by keys, as shares of the visible width. */
const cursorStep = 0.01;
const panStep = 0.2;

/** What a key does: it moves the cursor (null hides it), singles out a rank's line, or zooms. */
type KeyAction = { cursor: number | null } | { rank: number | null } | { zoom: ChartRange };

/**
 * Arrows to the sides move the cursor, with Shift the window; arrows up and down single out the next rank's line; + and
 * - zoom around the cursor; Home and End go to the ends; Escape and z clear. Other keys do nothing: null.
 */
function keyAction(
  { key, shiftKey }: Pick<KeyboardEvent, 'key' | 'shiftKey'>,
  { cursorX, hoveredRank }: Pick<ChartViewState, 'cursorX' | 'hoveredRank'>,
  { x, whole, lines }: Pick<Scene, 'x' | 'whole' | 'lines'>,
): KeyAction | null {
  const at = cursorX === null ? 0.5 : pixels(x, 0, 1)(cursorX);
  const direction = key === 'ArrowLeft' ? -1 : 1;
  switch (key) {
    case 'ArrowLeft':
    case 'ArrowRight':
      if (shiftKey) return { zoom: panBy(x, direction * panStep, whole) };
      return { cursor: valueAt(x, clamp(cursorX === null ? 0.5 : at + direction * cursorStep, 0, 1)) };
    case 'ArrowUp':
    case 'ArrowDown':
      if (cursorX === null || shiftKey) return null;
      return { rank: nextRank(readoutAt(lines, cursorX), hoveredRank, key === 'ArrowUp' ? 'up' : 'down') };
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
      // Without a cursor, Escape is for the dialog that shows the chart enlarged.
      return cursorX === null && hoveredRank === null ? null : { cursor: null };
    default:
      return null;
  }
}

/** The rank whose line is closest to a pixel's height at `x`, if one is within reach. */
function rankNear({ lines, y }: Pick<Scene, 'lines' | 'y'>, area: PlotArea, x: number, pixel: number): number | null {
  const place = pixels(y, area.bottom, area.top);
  const distances = readoutAt(lines, x)
    .map(({ rank, value }) => ({ rank, distance: Math.abs(place(value) - pixel) }))
    .filter(({ distance }) => distance <= reach)
    .sort((a, b) => a.distance - b.distance);
  return distances.at(0)?.rank ?? null;
}

/** Where a pixel lies between the plot's left (0) and right (1) edge; pixels beyond an edge count as on it. */
function fractionAt({ left, right }: PlotArea, pixel: number): number {
  return (clamp(pixel, left, right) - left) / (right - left);
}

/** A zoom of all of x is none; an empty one is refused, which leaves `zoom`. */
function zoomedTo(range: ChartRange, whole: ChartRange, zoom: ChartRange | null): ChartRange | null {
  if (!(range.to > range.from)) return zoom;
  return range.from <= whole.from && range.to >= whole.to ? null : range;
}
