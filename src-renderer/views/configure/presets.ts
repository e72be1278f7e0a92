import { ref, type Ref } from 'vue';
import { z } from 'zod';
import type { PlainObject } from '../../../core/options/index.ts';
import { usePreferences } from '../../stores/settings.ts';

/** A named set of overrides. */
export interface Preset {
  name: string;
  overrides: PlainObject;
}

const presetsSchema = z.array(z.object({ name: z.string(), overrides: z.record(z.string(), z.unknown()) }));

/** The presets of a project, stored in this browser. Saving under an existing name replaces that preset. */
export function usePresets(folder: string): {
  presets: Ref<Preset[]>;
  save(name: string, overrides: PlainObject): void;
  remove(name: string): void;
} {
  const preferences = usePreferences(folder);
  const presets = ref(preferences.get('presets', presetsSchema, []));

  function change(next: Preset[]): void {
    presets.value = next;
    preferences.set('presets', next);
  }
  const without = (name: string): Preset[] => presets.value.filter((preset) => preset.name !== name);
  return {
    presets,
    save: (name, overrides) => change([...without(name), { name, overrides }]),
    remove: (name) => change(without(name)),
  };
}
