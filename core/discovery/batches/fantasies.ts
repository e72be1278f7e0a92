import type { Belief } from '../belief.ts';
import { momentsOf } from '../belief.ts';

/**
 * Chooses a batch one by one: after each choice the belief becomes what it would be if the candidate had its expected value ("kriging believer"), so that the
 * next choices avoid what the first ones would tell. The members are samples of a Gaussian with covariances C = 1/M Σ_m a_m a_mᵀ, a_m = f_m − μ. Observing
 * candidate i with the noise r leaves the mean as it is and gives
 *
 *     C' = C − c_i c_iᵀ / (C_ii + r),      a'_m = a_m − α k a_m(i),   k = c_i/(C_ii + r),   α = 1/(1 + √(r/(C_ii + r))).
 *
 * Sources: Ginsbourger, Le Riche and Carraro, "Kriging is well-suited to parallelize optimization", 2010; the square root of the ensemble Kalman filter:
 * Whitaker and Hamill, "Ensemble data assimilation without perturbed observations", 2002, equations 10 and 13.
 *
 * @param choose the best open candidate of a belief; -1: there is none
 * @param open indices of the pool, ascending
 */
export function chooseByFantasies(
  belief: Belief,
  open: Int32Array,
  count: number,
  choose: (belief: Belief, open: Int32Array) => number,
): Int32Array {
  const chosen: number[] = [];
  let current = belief;
  let remaining = open;
  while (chosen.length < count) {
    const next = choose(current, remaining);
    if (next < 0) break;
    chosen.push(next);
    remaining = remaining.filter((index) => index !== next);
    current = afterObserving(current, next);
  }
  return Int32Array.from(chosen);
}

/** The belief after candidate `observed` had its expected value. Uncertainty and information stay those of the predictions. */
export function afterObserving(belief: Belief, observed: number): Belief {
  const { members, candidates, values, mean, deviation, noise } = belief;
  const variance = deviation[observed] ** 2;
  const total = variance + noise[observed];
  if (!(total > 0)) return belief;
  const shrink = 1 / (1 + Math.sqrt(noise[observed] / total));
  const own = Float64Array.from({ length: members }, (_, m) => values[m * candidates + observed] - mean[observed]);
  const gain = new Float64Array(candidates);
  for (let i = 0; i < values.length; i++) {
    const candidate = i % candidates;
    gain[candidate] += ((values[i] - mean[candidate]) * own[Math.floor(i / candidates)]) / (members * total);
  }
  const updated = values.map((value, i) => value - shrink * gain[i % candidates] * own[Math.floor(i / candidates)]);
  return { ...belief, values: updated, ...momentsOf(updated, members), mean };
}
