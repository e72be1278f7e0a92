import type { HubApi } from '../../../../core/protocol/pages/rpc.ts';

/** Predictions that a run kept of a split, under a name. */
export type KeptName = Awaited<ReturnType<HubApi['predictionNames']>>[number];

/** `validation/best`. */
export function spellKept({ split, name }: KeptName): string {
  return `${split}/${name}`;
}

/** By split, validation first, then by epoch: the way one scrubs through them. */
export function inTime(names: readonly KeptName[]): KeptName[] {
  return names.toSorted(
    (left, right) =>
      right.split.localeCompare(left.split) || left.epoch - right.epoch || left.name.localeCompare(right.name),
  );
}

/**
 * What is asked for; else those of the best evaluation, which runs that keep all have under its epoch's name; else the latest.
 * Null where nothing was kept.
 */
export function chooseKept(names: readonly KeptName[], asked: string): KeptName | null {
  const named = (key: string): KeptName[] => names.filter((kept) => spellKept(kept) === key);
  const best = named('test/ensemble-best');
  const ofBestEpoch = names.filter(({ split, epoch }) => split === 'validation' && epoch === best.at(0)?.epoch);
  const wanted = [named(asked), named('validation/best'), named('validation/ensemble-best'), ofBestEpoch, best];
  return wanted.flat().at(0) ?? inTime(names).at(-1) ?? null;
}
