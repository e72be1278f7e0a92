import type { Estimate } from '../../../../../core/numeric/estimate.ts';

/** The column by which results are sorted. */
export interface Order {
  id: string;
  isDescending: boolean;
}

/** `-best val/ens_acc` in an address; null for none. */
export function readOrder(text: string): Order | null {
  if (text === '') return null;
  return text.startsWith('-') ? { id: text.slice(1), isDescending: true } : { id: text, isDescending: false };
}

export function writeOrder(order: Order | null): string {
  return order === null ? '' : `${order.isDescending ? '-' : ''}${order.id}`;
}

/** The order after a press on a column: the better values first, then the other way round, then unsorted. */
export function turned(order: Order | null, id: string, isDescendingFirst: boolean): Order | null {
  if (order?.id !== id) return { id, isDescending: isDescendingFirst };
  return order.isDescending === isDescendingFirst ? { id, isDescending: !isDescendingFirst } : null;
}

/** The places in the order of their values. Equal values stay in their order, and those that are not finite are last. */
export function sortPlaces(count: number, values: readonly Estimate[] | undefined, order: Order | null): number[] {
  const places = Array.from({ length: count }, (_, place) => place);
  if (order === null || values === undefined) return places;
  const keyOf = (place: number): number => {
    const { mean } = values[place];
    if (!Number.isFinite(mean)) return Infinity;
    return order.isDescending ? -mean : mean;
  };
  return places.toSorted((left, right) => {
    const [one, other] = [keyOf(left), keyOf(right)];
    return one === other ? left - right : one - other;
  });
}
