import { expect, it } from 'vitest';
import type { ProjectCard as Card } from '../../core/protocol/pages/project-views.ts';
import ErrorState from '../../src-renderer/components/ErrorState.vue';
import ProjectCard from '../../src-renderer/views/projects/ProjectCard.vue';
import { mountPage } from './mount-page.ts';

const code = "  5 |   name: 'broken',\n> 6 |   model: ( => 1,\n    |            ^";
const error = `/broken/project.ts could not be loaded: Expression expected\nat project.ts:6:12\n${code}`;
const project: Card = {
  folder: '/broken',
  name: 'broken',
  description: '',
  task: 'regression',
  isExample: false,
  isTrusted: true,
  warning: null,
  asks: [],
  isDescribed: true,
  error,
  isOpened: true,
  isGone: false,
  lastRun: null,
};

it.each([
  ['the card of a project', ProjectCard, { project }],
  ['a page that cannot be shown', ErrorState, { title: 'The project cannot be loaded', message: error }],
])('%s shows file, line and code of a syntax error', async (_place, component, props) => {
  const { wrapper } = await mountPage(component, { props });
  expect(wrapper.get('.error-text p').text()).toBe(error.slice(0, error.indexOf('\n  5')));
  expect(wrapper.get('pre').element.textContent).toBe(code);
});
