import { createRouter, createWebHashHistory, type RouteRecordRaw } from 'vue-router';
import ProjectsPage from './views/projects/ProjectsPage.vue';

declare module 'vue-router' {
  interface RouteMeta {
    /** The name of the page, for the window's title. */
    title: string;
  }
}

/** The page that shows every part of the pages: builds of the sources have it for developers, packages do not. */
const developerRoutes: RouteRecordRaw[] =
  import.meta.env.MODE === 'package'
    ? []
    : [
        {
          path: '/design',
          name: 'design',
          component: () => import('./views/design/DesignPage.vue'),
          meta: { title: 'Design' },
        },
      ];

export const routes: RouteRecordRaw[] = [
  { path: '/', name: 'projects', component: ProjectsPage, meta: { title: 'Projects' } },
  {
    path: '/create',
    name: 'create',
    component: () => import('./views/create/CreatePage.vue'),
    meta: { title: 'New from data' },
  },
  {
    path: '/configure',
    name: 'configure',
    component: () => import('./views/configure/ConfigurePage.vue'),
    meta: { title: 'Configure' },
  },
  { path: '/runs', name: 'runs', component: () => import('./views/runs/RunsPage.vue'), meta: { title: 'Runs' } },
  {
    path: '/compare',
    name: 'compare',
    component: () => import('./views/compare/ComparePage.vue'),
    meta: { title: 'Compare' },
  },
  {
    path: '/runs/:id/:tab?',
    name: 'run',
    component: () => import('./views/run/RunPage.vue'),
    props: true,
    meta: { title: 'Run' },
  },
  {
    path: '/discover',
    name: 'discoveries',
    component: () => import('./views/discover/DiscoveriesPage.vue'),
    meta: { title: 'Discovery' },
  },
  {
    path: '/new-search',
    name: 'new-search',
    component: () => import('./views/discover/NewSearchPage.vue'),
    meta: { title: 'New search' },
  },
  {
    path: '/discover/:id',
    name: 'discovery',
    component: () => import('./views/discover/DiscoveryPage.vue'),
    props: true,
    meta: { title: 'Search' },
  },
  {
    path: '/studies',
    name: 'studies',
    component: () => import('./views/studies/StudiesPage.vue'),
    meta: { title: 'Studies' },
  },
  {
    path: '/new-study',
    name: 'new-study',
    component: () => import('./views/studies/new/NewStudyPage.vue'),
    meta: { title: 'New study' },
  },
  {
    path: '/studies/:id',
    name: 'study',
    component: () => import('./views/studies/study/StudyPage.vue'),
    props: true,
    meta: { title: 'Study' },
  },
  {
    path: '/settings',
    name: 'settings',
    component: () => import('./views/settings/SettingsPage.vue'),
    meta: { title: 'Settings' },
  },
  {
    path: '/health',
    name: 'health',
    component: () => import('./views/settings/SettingsPage.vue'),
    meta: { title: 'Health' },
  },
  ...developerRoutes,
  {
    path: '/:rest(.*)*',
    name: 'unknown',
    component: () => import('./components/frame/UnknownPage.vue'),
    meta: { title: 'Unknown page' },
  },
];

/** The address is the part after `#`: the desktop app opens the page from a file, whose path cannot change. */
export const router = createRouter({ history: createWebHashHistory(), routes });
