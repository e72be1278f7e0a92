import { computed, onScopeDispose, watch } from 'vue';
import { type LocationQuery, useRoute, useRouter } from 'vue-router';
import type { ChartView, ChartViewState } from '../../charts/types.ts';
import { useChartView } from '../../charts/series/use-chart-view.ts';
import { viewFromQuery, viewToQuery } from '../../charts/series/view-query.ts';

/** Browsers refuse an address that changes with every turn of the wheel. */
const settleMs = 200;

/** What of a view its address knows, as text to compare. */
function spell(view: ChartViewState): string {
  return JSON.stringify(viewToQuery(view));
}

/** The view that the charts of a run share: as the address says when the page opens, and kept there. */
export function useRunChartView(): ChartView {
  const route = useRoute();
  const router = useRouter();
  const view = useChartView(viewFromQuery(route.query));
  const shown = computed(() => spell(view));
  const addressed = computed(() => spell({ ...view, ...viewFromQuery(route.query) }));
  let timer: ReturnType<typeof setTimeout> | null = null;

  watch(shown, () => {
    if (timer !== null) clearTimeout(timer);
    timer = setTimeout(write, settleMs);
  });
  function write(): void {
    timer = null;
    if (route.name !== 'run' || shown.value === addressed.value) return;
    void router.replace({ query: { ...withoutView(router.currentRoute.value.query), ...viewToQuery(view) } });
  }

  // The address was changed by hand, or the user went back.
  watch(addressed, () => {
    if (timer === null && route.name === 'run') Object.assign(view, viewFromQuery(route.query));
  });
  onScopeDispose(() => {
    if (timer !== null) clearTimeout(timer);
  });
  return view;
}

/** Parameters that views write, all at once. */
const viewParameters = new Set(['axis', 'log', 'smooth', 'clip', 'zoom', 'hide']);

function withoutView(query: LocationQuery): LocationQuery {
  return Object.fromEntries(Object.entries(query).filter(([name]) => !viewParameters.has(name)));
}
