import { type PostprocessingRequest, usualRequest } from '../../../../../core/postprocessing/request.ts';
import type { CalibrationRequest } from '../../../../../core/protocol/run/checkpoint-tasks.ts';
import type { RunRecord } from '../../../../../core/protocol/run/record.ts';

/** What a user fills in; numbers are texts until they are read. */
export interface CalibrationForm {
  set: CalibrationRequest['set'];
  split: CalibrationRequest['split'];
  method: PostprocessingRequest['method'];
  calibrationShare: string;
  conformal: PostprocessingRequest['conformal'];
  alpha: string;
  isClassConditional: boolean;
  outside: PostprocessingRequest['outside'];
  quantile: string;
  /** Empty: no threshold. */
  risk: string;
}

/** The usual form: what suits the task, for the set that the run's figures are of. */
export function usualForm(sets: readonly CalibrationRequest['set'][]): CalibrationForm {
  const { method, calibrationShare, conformal, alpha, isClassConditional, outside, quantile } = usualRequest;
  return {
    set: sets.includes('ensemble-best') ? 'ensemble-best' : (sets.at(0) ?? 'final'),
    split: 'validation',
    method,
    calibrationShare: String(calibrationShare),
    conformal,
    alpha: String(alpha),
    isClassConditional,
    outside,
    quantile: String(quantile),
    risk: '',
  };
}

/** The sets of checkpoints that a run has been evaluated with; the last checkpoints of a run that has none. */
export function calibratedSets({ summary }: Pick<RunRecord, 'summary'>): CalibrationRequest['set'][] {
  const known = ['ensemble-best', 'member-best', 'final'] as const;
  const evaluated = known.filter((set) => summary?.evaluatedSets.some((found) => found.set === set));
  return evaluated.length > 0 ? evaluated : ['final'];
}

/** What to ask of the hub, or what is wrong with each field. */
export function readForm(
  form: CalibrationForm,
): { request: CalibrationRequest } | { problems: Partial<Record<keyof CalibrationForm, string>> } {
  const problems: Partial<Record<keyof CalibrationForm, string>> = {};
  const read = (
    field: 'alpha' | 'quantile' | 'calibrationShare' | 'risk',
    rule: string,
    fits: (own: number) => boolean,
  ) => {
    const value = form[field].trim() === '' ? NaN : Number(form[field]);
    if (!fits(value)) problems[field] = `Enter a number ${rule}.`;
    return value;
  };
  const isShare = (value: number): boolean => value > 0 && value < 1;
  const numbers = {
    alpha: read('alpha', 'above 0 and below 1', isShare),
    quantile: read('quantile', 'above 0 and below 1', isShare),
    calibrationShare: read('calibrationShare', 'above 0 and at most 1', (value) => value > 0 && value <= 1),
    risk:
      form.risk.trim() === ''
        ? null
        : read('risk', 'of at least 0, or nothing', (value) => value >= 0 && value < Infinity),
  };
  if (Object.keys(problems).length > 0) return { problems };
  const { set, split, method, conformal, outside, isClassConditional } = form;
  const request = { ...usualRequest, method, conformal, outside, isClassConditional, ...numbers };
  return { request: { set, split, request, corruptions: false } };
}
