import { computed, type ComputedRef, inject, type InjectionKey, type Ref } from 'vue';
import { describeRule, type OptionDescription, parseOptionValue } from '../../../../core/options/index.ts';
import { showValue } from '../../../../core/options/rule.ts';
import type { RunPreview } from '../../../../core/protocol/pages/project-views.ts';
import type { RunForm } from '../use-run-form.ts';
import { type FormContext, whyIdle } from '../form-sections.ts';

/** What all fields of a form share. */
export interface FormScope {
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
