import {
  computed,
  type ComputedRef,
  inject,
  type InjectionKey,
  onScopeDispose,
  reactive,
  type Ref,
  ref,
  shallowRef,
  watch,
} from 'vue';
import {
  describeRule,
  type OptionDescription,
  parseOptionValue,
  type PlainObject,
} from '../../../core/options/index.ts';
import type { FormRequest, FormSubject } from './form-subject.ts';
import { type FormContext, type FormSection, formSections, whyIdle } from './form-sections.ts';
import { type FormValues, isChanged, isVisible, standardOf, valueOf, withValue } from './form-values.ts';
import { useTimeoutFn } from '@vueuse/core';
import type { RunPreview } from '../../../core/protocol/pages/project-views.ts';
import { useHubClient } from '../../client/use-hub.ts';
import { messageOf } from '../../../core/text/errors.ts';
import { showValue } from '../../../core/options/rule.ts';

/** A form: its options, the user's changes, and texts that cannot be read. */
interface RunForm {
  sections: ComputedRef<FormSection[]>;
  overrides: Ref<PlainObject>;
  name: Ref<string>;
  /** The run's folder as typed; empty where Tutti chooses it. */
  out: Ref<string>;
  /** Whether the run continues when Tutti ends. */
  detach: Ref<boolean>;
  /** Number of runs that differ in their seeds. */
  repeat: Ref<number>;
  /** Whether it trains with the project's present code, although that has changed since. */
  currentSource: Ref<boolean>;
  request: ComputedRef<FormRequest>;
  /** How many options are changed. */
  changes: ComputedRef<number>;
  /** The problem of each field whose text is not a valid value, by path. */
  unreadable: Map<string, string>;
  value(option: OptionDescription): unknown;
  /** The option's value without changes. */
  standard(option: OptionDescription): unknown;
  valueAt(path: string): unknown;
  isChanged(option: OptionDescription): boolean;
  set(option: OptionDescription, value: unknown): void;
  /** Records that a field's text is not a valid value. */
  refuse(path: string, message: string): void;
  replace(overrides: PlainObject): void;
}

/** @param initial the changes at the start */
export function useRunForm({ options, standard }: FormSubject, initial: PlainObject): RunForm {
  const overrides = shallowRef<PlainObject>(initial);
  const name = shallowRef('');
  const out = shallowRef('');
  const detach = shallowRef(false);
  const repeat = shallowRef(1);
  const currentSource = shallowRef(false);
  const values = computed<FormValues>(() => ({ options, defaults: standard, overrides: overrides.value }));
  const visible = computed(() => options.filter((option) => isVisible(values.value, option)));
  const unreadable = useUnreadable(visible);

  return {
    sections: computed(() => formSections(visible.value)),
    overrides,
    name,
    out,
    detach,
    repeat,
    currentSource,
    request: computed(() => ({
      overrides: overrides.value,
      name: textOf(name),
      out: textOf(out),
      ...(repeat.value > 1 ? { repeat: repeat.value } : detach.value ? { detach: true } : {}),
      ...(currentSource.value ? { currentSource: true } : {}),
    })),
    changes: computed(() => visible.value.filter((option) => isChanged(values.value, option)).length),
    unreadable,
    ...readersOf(values, visible),
    set: (option, value) => {
      unreadable.delete(option.path);
      overrides.value = withValue(values.value, option, value);
    },
    refuse: (path, message) => void unreadable.set(path, message),
    replace: (next) => {
      unreadable.clear();
      overrides.value = next;
    },
  };
}

/** Problems by path. A field that disappears takes its problem with it. */
function useUnreadable(visible: ComputedRef<OptionDescription[]>): Map<string, string> {
  const unreadable = reactive(new Map<string, string>());
  watch(visible, (now) => {
    const paths = new Set(now.map(({ path }) => path));
    for (const path of unreadable.keys()) if (!paths.has(path)) unreadable.delete(path);
  });
  return unreadable;
}

function readersOf(
  values: ComputedRef<FormValues>,
  visible: ComputedRef<OptionDescription[]>,
): Pick<RunForm, 'value' | 'standard' | 'isChanged' | 'valueAt'> {
  return {
    value: (option) => valueOf(values.value, option),
    standard: (option) => standardOf(values.value, option),
    isChanged: (option) => isChanged(values.value, option),
    valueAt: (path) => {
      const option = visible.value.find((candidate) => candidate.path === path);
      return option === undefined ? undefined : valueOf(values.value, option);
    },
  };
}

/** Null for an empty text. */
function textOf({ value }: Readonly<Ref<string>>): string | null {
  return value.trim() === '' ? null : value.trim();
}

/** How long the user must pause before a change is sent. */
const pauseMs = 200;

interface Preview {
  preview: Readonly<Ref<RunPreview | null>>;
  error: Readonly<Ref<string | null>>;
}

/**
 * The hub's preview of a request, asked for whenever the request changes; the last answer stays until the next arrives.
 */
export function usePreview<Request>(
  request: Readonly<Ref<Request>>,
  askHub: (request: Request) => Promise<RunPreview>,
): Preview {
  const client = useHubClient();
  const preview = shallowRef<RunPreview | null>(null);
  const error = ref<string | null>(null);
  let turn = 0;

  async function ask(): Promise<void> {
    const own = ++turn;
    try {
      const answer = await askHub(request.value);
      if (own !== turn) return;
      preview.value = answer;
      error.value = null;
    } catch (reason) {
      if (own === turn) error.value = messageOf(reason);
    }
  }

  const { start } = useTimeoutFn(
    () => void ask(),
    () => (preview.value === null ? 0 : pauseMs),
    { immediate: false },
  );
  watch(
    request,
    () => {
      // An answer that is still on its way belongs to the previous request.
      turn += 1;
      start();
    },
    { immediate: true },
  );
  onScopeDispose(client.on('returned', () => void ask()));
  return { preview, error };
}

/** What all fields of a form share. */
interface FormScope {
  form: RunForm;
  context: ComputedRef<FormContext>;
  preview: Readonly<Ref<RunPreview | null>>;
  /** The name of an unchanged value: `default`. */
  standardName: string;
}

export const formScopeKey: InjectionKey<FormScope> = Symbol('run form');

export function useFormScope(): FormScope {
  const scope = inject(formScopeKey);
  if (scope === undefined) throw new Error('This field is not inside a run form.');
  return scope;
}

/** The field of one option: its value, its problem, and whether it has an effect. */
export function useField(option: () => OptionDescription): {
  value: ComputedRef<unknown>;
  isChanged: ComputedRef<boolean>;
  problem: ComputedRef<string | null>;
  idleReason: ComputedRef<string | null>;
  /** Its unchanged value, in words. */
  hint: ComputedRef<string>;
  setText(text: string): void;
  set(value: unknown): void;
} {
  const { form, context, preview, standardName } = useFormScope();
  const problem = computed(() => {
    const { path } = option();
    const found = preview.value?.problems.find((one) => one.path === path)?.message;
    return form.unreadable.get(path) ?? found ?? null;
  });
  const hint = computed(() => {
    const standard = form.standard(option());
    return standard === undefined ? '' : `${standardName} ${showValue(standard)}`;
  });

  function setText(text: string): void {
    try {
      form.set(option(), parseOptionValue(option(), text));
    } catch {
      form.refuse(option().path, `Enter ${describeRule(option())}.`);
    }
  }

  return {
    value: computed(() => form.value(option())),
    isChanged: computed(() => form.isChanged(option())),
    problem,
    idleReason: computed(() => whyIdle(option(), context.value)),
    hint,
    setText,
    set: (value) => form.set(option(), value),
  };
}
