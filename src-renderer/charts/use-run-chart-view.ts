import { useTimeoutFn } from '@vueuse/core';
import { computed, watch } from 'vue';
import { type LocationQuery, useRoute, useRouter } from 'vue-router';
import type { ChartView, ChartViewState } from './types.ts';
import { useChartView, viewFromQuery, viewToQuery } from './series/chart-view.ts';
import { z } from 'zod';
import { maximumSmoothing } from './smoothing.ts';
import { usePreferences } from '../stores/settings.ts';

/**
 * Browsers limit how often a page may change its address: it is written once the view has not changed for this long.
 */
const settleMs = 200;

/** The query parameters that hold a view. */
const viewParameters = new Set(['axis', 'log', 'smooth', 'clip', 'zoom', 'hide']);

/** The part of a view that its address holds, as text to compare. */
function spell(view: ChartViewState): string {
  return JSON.stringify(viewToQuery(view));
}

/**
 * The view that all charts of a page share. It starts as the address says, else as the project's runs were last shown,
 * and the address follows it.
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

/**
 * What a user sets once and expects to find again at the next run of a project. Zoom and hidden ranks belong to one
 * run.
 */
const habitsSchema = z.object({
  axis: z.enum(['step', 'epoch', 'time']),
  logX: z.boolean(),
  logY: z.boolean(),
  smoothing: z.number().min(0).max(maximumSmoothing),
  clipsOutliers: z.boolean(),
});
type Habits = z.output<typeof habitsSchema>;

function habitsOf({ axis, logX, logY, smoothing, clipsOutliers }: ChartView): Habits {
  return { axis, logX, logY, smoothing, clipsOutliers };
}

/**
 * Shows the charts as they were last shown in the project, and remembers every change.
 * @param isAddressed whether the address says how to show them, which then counts: it may be a link that somebody sent
 */
function useChartHabits(projectFolder: () => string | undefined, view: ChartView, isAddressed: boolean): void {
  watch(
    projectFolder,
    (folder, before) => {
      if (folder === undefined || before !== undefined) return;
      const stored = usePreferences(folder).get('chart-view', habitsSchema, habitsOf(view));
      if (!isAddressed) Object.assign(view, stored);
    },
    { immediate: true, flush: 'sync' },
  );
  watch(
    () => habitsOf(view),
    (habits, before) => {
      const folder = projectFolder();
      if (folder !== undefined && JSON.stringify(habits) !== JSON.stringify(before))
        usePreferences(folder).set('chart-view', habits);
    },
  );
}
