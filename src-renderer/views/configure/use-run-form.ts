import { computed, type ComputedRef, reactive, type Ref, shallowRef, watch } from 'vue';
import type { OptionDescription, PlainObject } from '../../../core/options/index.ts';
import type { FormRequest, FormSubject } from './form-subject.ts';
import { type FormSection, formSections } from './form-sections.ts';
import { type FormValues, isChanged, isVisible, standardOf, valueOf, withValue } from './form-values.ts';

/** A form: its options, what the user changed, and what cannot be read. */
export interface RunForm {
  sections: ComputedRef<FormSection[]>;
  overrides: Ref<PlainObject>;
  name: Ref<string>;
  /** The run's folder as typed; empty where Tutti chooses it. */
  out: Ref<string>;
  request: ComputedRef<FormRequest>;
  changes: ComputedRef<number>;
  /** Texts that are no value of their option, by path: what is wrong with them. */
  unreadable: Map<string, string>;
  value(option: OptionDescription): unknown;
  /** The value it has while nothing is changed. */
  standard(option: OptionDescription): unknown;
  valueAt(path: string): unknown;
  isChanged(option: OptionDescription): boolean;
  set(option: OptionDescription, value: unknown): void;
  /** Remembers that a field holds no value at the moment; null when it does again. */
  refuse(path: string, message: string | null): void;
  replace(overrides: PlainObject): void;
}

/** @param initial what is changed at first */
export function useRunForm({ options, standard }: FormSubject, initial: PlainObject): RunForm {
  const overrides = shallowRef<PlainObject>(initial);
  const name = shallowRef('');
  const out = shallowRef('');
  const unreadable = reactive(new Map<string, string>());
  const values = computed<FormValues>(() => ({ options, defaults: standard, overrides: overrides.value }));
  const visible = computed(() => options.filter((option) => isVisible(values.value, option)));

  // A field that is gone has nothing unreadable any more.
  watch(visible, (now) => {
    const paths = new Set(now.map(({ path }) => path));
    for (const path of unreadable.keys()) if (!paths.has(path)) unreadable.delete(path);
  });

  return {
    sections: computed(() => formSections(visible.value)),
    overrides,
    name,
    out,
    request: computed(() => ({ overrides: overrides.value, name: textOf(name), out: textOf(out) })),
    changes: computed(() => visible.value.filter((option) => isChanged(values.value, option)).length),
    unreadable,
    value: (option) => valueOf(values.value, option),
    standard: (option) => standardOf(values.value, option),
    valueAt: (path) => {
      const option = visible.value.find((candidate) => candidate.path === path);
      return option === undefined ? undefined : valueOf(values.value, option);
    },
    isChanged: (option) => isChanged(values.value, option),
    set: (option, value) => {
      unreadable.delete(option.path);
      overrides.value = withValue(values.value, option, value);
    },
    refuse: (path, message) => {
      if (message === null) unreadable.delete(path);
      else unreadable.set(path, message);
    },
    replace: (next) => {
      unreadable.clear();
      overrides.value = next;
    },
  };
}

/** Null for none. */
function textOf({ value }: Readonly<Ref<string>>): string | null {
  return value.trim() === '' ? null : value.trim();
}
