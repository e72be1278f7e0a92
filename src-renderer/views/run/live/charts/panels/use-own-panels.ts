import { computed, type ComputedRef, type Ref, shallowRef } from 'vue';
import { z } from 'zod';
import { usePreferences } from '../../../../../stores/settings.ts';
import { useToastsStore } from '../../../../../stores/toasts.ts';
import { type Panel, panelSchema } from './panel-data.ts';

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
