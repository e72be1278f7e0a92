import { z } from 'zod';
import { momentsOf, type Belief } from '../../../core/discovery/belief.ts';
import { readGolden } from '../../golden/read-golden.ts';

const numbers = z.array(z.number());

/** What BoTorch, scikit-learn, PyTorch and NumPy computed; `make_acquisitions.py` beside it records it. */
export const recorded = z
  .object({
    cases: z.array(
      z.object({
        values: numbers,
        members: z.number(),
        best: z.number(),
        kappa: z.number(),
        mean: numbers,
        deviation: numbers,
        ei: numbers,
        pi: numbers,
        ucb: numbers,
        fantasies: z.object({ kappa: z.number(), noise: numbers, chosen: numbers, deviations: z.array(numbers) }),
      }),
    ),
    information: z.array(
      z.object({
        shape: z.tuple([z.number(), z.number(), z.number()]),
        logits: numbers,
        entropy: numbers,
        information: numbers,
      }),
    ),
    features: z.object({ width: z.number(), values: numbers, centres: numbers, clusters: numbers }),
  })
  .parse(readGolden('discovery/acquisitions.json'));

/** A belief from members' values `[M, N]`. */
export function beliefFrom(values: Float64Array, members: number, noise?: Float64Array): Belief {
  const candidates = values.length / members;
  const zeros = new Float64Array(candidates);
  const moments = momentsOf(values, members);
  return { members, candidates, values, ...moments, noise: noise ?? zeros, uncertainty: zeros, information: zeros };
}

/** The indices 0 to N - 1. */
export const all = (candidates: number): Int32Array => Int32Array.from({ length: candidates }, (_, i) => i);
