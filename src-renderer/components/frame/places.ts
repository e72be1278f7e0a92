import type { IconName } from '../icons/icons.ts';

/** A page that the sidebar names. */
interface Place {
  /** Name of its route. */
  page: string;
  title: string;
  icon: IconName;
  /** Names of the routes that lie below it. */
  within: readonly string[];
}

const projects: Place = { page: 'projects', title: 'Projects', icon: 'projects', within: ['configure'] };
const runs: Place = { page: 'runs', title: 'Runs', icon: 'runs', within: ['run', 'compare'] };
const studies: Place = { page: 'studies', title: 'Studies', icon: 'studies', within: ['study', 'new-study'] };
const discoveries: Place = {
  page: 'discoveries',
  title: 'Discovery',
  icon: 'discovery',
  within: ['discovery', 'new-search'],
};
const health: Place = { page: 'health', title: 'Health', icon: 'health', within: [] };
const settings: Place = { page: 'settings', title: 'Settings', icon: 'settings', within: [] };

/** The pages of a user; those who only watch see runs and studies. */
export function placesOf(isWatcher: boolean): { pages: readonly Place[]; ofMachine: readonly Place[] } {
  if (isWatcher) return { pages: [runs, studies], ofMachine: [] };
  return { pages: [projects, runs, studies, discoveries], ofMachine: [health, settings] };
}
