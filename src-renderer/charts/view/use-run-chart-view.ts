import { useTimeoutFn } from '@vueuse/core';
import { computed, watch } from 'vue';
import { type LocationQuery, useRoute, useRouter } from 'vue-router';
import type { ChartView, ChartViewState } from '../types.ts';
import { useChartHabits } from './use-chart-habits.ts';
import { useChartView, viewFromQuery, viewToQuery } from '../series/chart-view.ts';

/** Browsers limit how often a page may change its address: it is written once the view has not changed for this long. */
const settleMs = 200;

/** The query parameters that hold a view. */
const viewParameters = new Set(['axis', 'log', 'smooth', 'clip', 'zoom', 'hide']);

/** The part of a view that its address holds, as text to compare. */
function spell(view: ChartViewState): string {
  return JSON.stringify(viewToQuery(view));
}

/**
 * The view that all charts of a page share. It starts as the address says, else as the project's runs were last shown, and the address
 * follows it.
 * @param page the name of its route
 * @param projectFolder the project that remembers the view; undefined until it is known, and for none
 */
export function useRunChartView(page = 'run', projectFolder: () => string | undefined = () => undefined): ChartView {
  const route = useRoute();
  const router = useRouter();
  const view = useChartView(viewFromQuery(route.query));
  const isAddressed = Object.keys(route.query).some((name) => viewParameters.has(name));
  useChartHabits(projectFolder, view, isAddressed);
  const shown = computed(() => spell(view));
  const addressed = computed(() => spell({ ...view, ...viewFromQuery(route.query) }));

  const { start, isPending } = useTimeoutFn(writeAddress, settleMs, { immediate: false });
  watch(shown, () => start());

  function writeAddress(): void {
    if (route.name !== page || shown.value === addressed.value) return;
    void router.replace({ query: { ...withoutView(router.currentRoute.value.query), ...viewToQuery(view) } });
  }

  // The user edited the address or went back.
  watch(addressed, () => {
    if (!isPending.value && route.name === page) Object.assign(view, viewFromQuery(route.query));
  });
  return view;
}

function withoutView(query: LocationQuery): LocationQuery {
  return Object.fromEntries(Object.entries(query).filter(([name]) => !viewParameters.has(name)));
}
