import type { EvaluatedSet } from './record.ts';

/** One way that a set's members predict together. */
export interface EvaluatedEnsemble {
  label: string;
  /** Of the names of its metrics in `ensemble`: `product_` for `product_nll`. */
  prefix: '' | 'product_';
}

/** Members that are trained jointly predict by their product of experts too, so that neither of the two is just "the ensemble". */
export function ensemblesOf(ensemble: EvaluatedSet['ensemble']): EvaluatedEnsemble[] {
  if (!('product_nll' in ensemble)) return [{ label: 'ensemble', prefix: '' }];
  return [
    { label: 'product of experts', prefix: 'product_' },
    { label: 'mean of probabilities', prefix: '' },
  ];
}
