import { watch } from 'vue';
import { z } from 'zod';
import { maximumSmoothing } from '../points/smoothing.ts';
import type { ChartView } from '../types.ts';
import { usePreferences } from '../../stores/preferences.ts';

/** What a user sets once and expects to find again at the next run of a project. Zoom and hidden ranks belong to one run. */
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
export function useChartHabits(projectFolder: () => string | undefined, view: ChartView, isAddressed: boolean): void {
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
