import { computed, type ComputedRef, inject } from 'vue';
import type { OptionDescription } from '../../../../core/options/index.ts';
import { describeRule, parseOptionValue } from '../../../../core/options/index.ts';
import { showValue } from '../../../../core/options/rule.ts';
import { whyIdle } from './availability.ts';
import { type FormScope, formScopeKey } from './form-keys.ts';

export function useFormScope(): FormScope {
  const scope = inject(formScopeKey);
  if (scope === undefined) throw new Error('A field stands outside of the form.');
  return scope;
}

/** One option's field: its value, what is wrong with it, and whether it matters at the moment. */
export function useField(option: () => OptionDescription): {
  value: ComputedRef<unknown>;
  isChanged: ComputedRef<boolean>;
  problem: ComputedRef<string | null>;
  idleReason: ComputedRef<string | null>;
  /** Its unit and default, in words. */
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
      form.refuse(option().path, `It must be ${describeRule(option())}.`);
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
