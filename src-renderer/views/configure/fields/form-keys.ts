import type { ComputedRef, InjectionKey, Ref } from 'vue';
import type { RunPreview } from '../../../../core/protocol/pages/project-views.ts';
import type { FormContext } from './availability.ts';
import type { RunForm } from '../use-run-form.ts';

/** What all fields of the form share. */
export interface FormScope {
  form: RunForm;
  context: ComputedRef<FormContext>;
  preview: Readonly<Ref<RunPreview | null>>;
  /** What values that were not changed are called. */
  standardName: string;
}

export const formScopeKey: InjectionKey<FormScope> = Symbol('run form');
