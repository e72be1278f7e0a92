import { armsOf, type Search, type SearchGoal } from '../../../../core/discovery/search.ts';
import type { DiscoveryView } from '../../../../core/protocol/pages/discovery-views.ts';
import { formatValue } from '../../../../core/text/numbers.ts';

/** What a search looks for: `class 1`, `large values, hits from 0.5 on`. */
export function goalText(goal: SearchGoal): string {
  if (goal.kind === 'class') return `class ${goal.label}`;
  const size = goal.kind === 'maximize' ? 'large' : 'small';
  if (goal.threshold === null) return `${size} values`;
  return `${size} values, hits ${goal.kind === 'maximize' ? 'from' : 'up to'} ${formatValue(goal.threshold)}`;
}

/** How a search chooses: `ucb (κ 1), the best scores, 20 a round`. */
export function choiceText({ acquisition, perRound }: Search): string {
  const { kind, kappa, xi, batch } = acquisition;
  const settings: Record<string, string> = {
    ucb: ` (κ ${formatValue(kappa)})`,
    ei: ` (ξ ${formatValue(xi)})`,
    pi: ` (ξ ${formatValue(xi)})`,
  };
  return `${kind}${settings[kind] ?? ''}${batch === 'top' ? '' : `, ${batch}`}, ${perRound} labels a round`;
}

/** What a running search does now, from what it has done: the next arm that has not finished the round. */
export function activityText({ search, arms, candidates }: DiscoveryView): string {
  if (candidates === 0) return 'Reads the pool';
  const names = armsOf(search);
  const round = Math.min(search.rounds, Math.min(...arms.map(({ rounds }) => rounds)) + 1);
  const arm = names.find((name) => (arms.find((one) => one.arm === name)?.rounds ?? 0) < round);
  return arm === undefined ? 'Asks for labels' : `${arm}, round ${round} of ${search.rounds}`;
}
