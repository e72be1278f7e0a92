import { z } from 'zod';
import type { ChartRange } from './types.ts';
import { watchDebounced } from '@vueuse/core';
import { type Ref, shallowRef, watch } from 'vue';
import { useRoute } from 'vue-router';
import { useQueryParameter } from '../composables/use-query.ts';

/** The selected range of each axis that has one, by the axis's id. What lies in all of them is selected. */
export type Brushes = Readonly<Record<string, ChartRange>>;

const writtenSchema = z.record(z.string(), z.tuple([z.number(), z.number()]));

/** As the address keeps them; empty without a brush. */
export function writeBrushes(brushes: Brushes): string {
  const entries = Object.entries(brushes).map(([id, { from, to }]) => [id, [shortest(from), shortest(to)]] as const);
  return entries.length === 0 ? '' : JSON.stringify(Object.fromEntries(entries));
}

/** Enough digits for any screen. */
function shortest(value: number): number {
  return Number(value.toPrecision(6));
}

/** The inverse of `writeBrushes`. What is no list of brushes is none. */
export function readBrushes(text: string): Brushes {
  const written = writtenSchema.safeParse(parsed(text)).data ?? {};
  return Object.fromEntries(Object.entries(written).map(([id, [from, to]]) => [id, { from, to }]));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The brushes after an axis gets another range, or loses its own. */
export function withBrush(brushes: Brushes, axis: string, range: ChartRange | null): Brushes {
  const others = Object.entries(brushes).filter(([id]) => id !== axis);
  return Object.fromEntries(range === null ? others : [...others, [axis, range]]);
}

/** Whether something, such as a trial, lies in the range of every axis that has one. */
export function isWithin<T>(
  thing: T,
  axes: readonly { id: string; valueOf: (thing: T) => number }[],
  brushes: Brushes,
): boolean {
  return axes.every(({ id, valueOf }) => {
    if (!Object.hasOwn(brushes, id)) return true;
    const value = valueOf(thing);
    return value >= brushes[id].from && value <= brushes[id].to;
  });
}

/** How long a brush must rest before the address gets it. */
const addressPauseMs = 200;

/**
 * The brushes of a page, which its address keeps. A drag changes them with every frame; the address gets them when it
 * rests.
 * @param page the name of its route
 */
export function useAddressedBrushes(page: string): Ref<Brushes> {
  const written = useQueryParameter('only');
  const brushes = shallowRef(readBrushes(written.value));
  const route = useRoute();
  watchDebounced(
    brushes,
    (value) => {
      // The reader may have left the page meanwhile.
      if (route.name === page) written.value = writeBrushes(value);
    },
    { debounce: addressPauseMs },
  );
  watch(written, (text) => {
    if (text !== writeBrushes(brushes.value)) brushes.value = readBrushes(text);
  });
  return brushes;
}
