import { computed, type ComputedRef, ref, type Ref, shallowRef } from 'vue';
import { z } from 'zod';
import { usePreferences } from '../../../stores/settings.ts';
import { type SectionId, sectionIds, sectionTitles } from './chart-families.ts';
import { type ChartSize, chartSizesSchema, sizeOf } from './chart-sizes.ts';
import { inOrder, moved } from './chart-specs.ts';
import { useToastsStore } from '../../../stores/toasts.ts';
import { type Panel, panelSchema } from './panel-data.ts';

const idsSchema = z.array(z.string());

/** What the grid places: a chart of a family or of one metric, or a panel of the user. */
export interface Placed {
  id: string;
  section: SectionId;
}

export interface LaidSection<T extends Placed> {
  id: SectionId;
  title: string;
  isOpen: boolean;
  charts: { chart: T; size: ChartSize }[];
}

export interface ChartLayout<T extends Placed> {
  /** The sections that have charts, with the charts in the user's order. */
  sections: ComputedRef<LaidSection<T>[]>;
  /** The dragged chart; null without a drag. */
  dragged: Ref<string | null>;
  /** Moves the dragged chart to the place of another of its section. */
  dropOn(id: string): void;
  /** Moves a chart by a number of places within its section. */
  shift(id: string, places: number): void;
  resize(id: string, size: ChartSize): void;
  toggle(section: SectionId): void;
}

/** Order and sizes of a project's charts and which sections are open, shared by all its runs. */
export function useChartLayout<T extends Placed>(projectFolder: string, charts: () => readonly T[]): ChartLayout<T> {
  const preferences = usePreferences(projectFolder);
  const dragged = ref<string | null>(null);
  const sizes = computed(() => preferences.get('chart-sizes', chartSizesSchema, {}));
  const closed = computed(() => preferences.get('closed-sections', idsSchema, []));
  const ordered = computed(() => inOrder(charts(), preferences.get('chart-order', idsSchema, [])));
  const grouped = computed(() => inSections(ordered.value));
  const sections = computed(() =>
    grouped.value.map(({ id, charts }, place) => ({
      id,
      title: sectionTitles[id],
      isOpen: !closed.value.includes(id),
      charts: charts.map((chart, index) => ({ chart, size: sizeOf(sizes.value, chart.id, place + index) })),
    })),
  );

  function move(id: string, target: (ids: string[]) => string | undefined): void {
    const orders = grouped.value.map(({ charts }) => charts.map((chart) => chart.id));
    const place = orders.findIndex((ids) => ids.includes(id));
    const to = place === -1 ? undefined : target(orders[place]);
    if (to === undefined || to === id || !orders[place].includes(to)) return;
    preferences.set('chart-order', orders.with(place, moved(orders[place], id, to)).flat());
  }

  return {
    sections,
    dragged,
    dropOn: (id) => {
      if (dragged.value !== null) move(dragged.value, () => id);
      dragged.value = null;
    },
    shift: (id, places) => move(id, (ids) => ids.at(Math.max(0, ids.indexOf(id) + places))),
    resize: (id, size) => preferences.set('chart-sizes', { ...sizes.value, [id]: size }),
    toggle: (id) => preferences.set('closed-sections', toggled(closed.value, id)),
  };
}

/** The sections that have charts. */
function inSections<T extends Placed>(charts: readonly T[]): { id: SectionId; charts: T[] }[] {
  return sectionIds
    .map((id) => ({ id, charts: charts.filter(({ section }) => section === id) }))
    .filter((section) => section.charts.length > 0);
}

function toggled(ids: readonly string[], id: string): string[] {
  return ids.includes(id) ? ids.filter((other) => other !== id) : [...ids, id];
}

const panelsSchema = z.array(panelSchema);

export interface OwnPanels {
  panels: ComputedRef<Panel[]>;
  /** The panel in the form; null while it is closed. */
  edited: Ref<Panel | null>;
  /** Adds a panel, or replaces the one with the same id. */
  save(panel: Panel): void;
  /** Removes a panel; a toast offers to undo it. */
  remove(id: string): void;
  /** Opens the form of a new panel. */
  add(): void;
}

/** The panels that the user has made for a project, shared by all its runs. */
export function useOwnPanels(projectFolder: string): OwnPanels {
  const preferences = usePreferences(projectFolder);
  const toasts = useToastsStore();
  const edited = shallowRef<Panel | null>(null);
  const panels = computed(() => preferences.get('own-panels', panelsSchema, []));
  const store = (changed: readonly Panel[]): void => preferences.set('own-panels', changed);

  function save(panel: Panel): void {
    const place = panels.value.findIndex(({ id }) => id === panel.id);
    store(place === -1 ? [...panels.value, panel] : panels.value.with(place, panel));
  }

  function remove(id: string): void {
    const before = panels.value;
    const panel = before.find((one) => one.id === id);
    if (panel === undefined) return;
    store(before.filter((one) => one.id !== id));
    toasts.tell(`The panel ${panel.title} was removed.`, () => save(panel));
  }

  function add(): void {
    const numbers = panels.value.map(({ id }) => Number(id.replace('panel-', ''))).filter(Number.isInteger);
    const id = `panel-${Math.max(0, ...numbers) + 1}`;
    edited.value = { id, title: '', kind: 'lines', metrics: [], over: 'ranks' };
  }

  return { panels, edited, save, remove, add };
}
