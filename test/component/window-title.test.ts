import { flushPromises } from '@vue/test-utils';
import { expect, it } from 'vitest';
import { defineComponent, h, shallowRef } from 'vue';
import { RouterView } from 'vue-router';
import { useTitle, useWindowTitle } from '../../src-renderer/composables/use-window.ts';
import { titleOf } from '../../src-renderer/views/run/run-facts.ts';
import { runConfigSchema } from '../../core/protocol/run/config.ts';
import { runRecord, runRow, runView } from '../unit/renderer/run-fixtures.ts';
import { mountPage } from './mount-page.ts';

const name = shallowRef<string | null>(null);
const named = defineComponent(() => {
  useTitle(() => name.value);
  return () => h('p');
});
const frame = defineComponent(() => {
  useWindowTitle();
  return () => h(RouterView);
});

it('is the name of what a page shows, and else that of the page', async () => {
  const { router } = await mountPage(frame, { address: '/unknown' });
  router.addRoute({ path: '/one', component: named, meta: { title: 'Run' } });
  expect(document.title).toBe('Unknown page – Tutti');
  await router.push('/one');
  await flushPromises();
  expect(document.title).toBe('Run – Tutti');
  name.value = 'blobs, 4 members · epoch 12/200';
  await flushPromises();
  expect(document.title).toBe('blobs, 4 members · epoch 12/200 – Tutti');
  await router.push('/unknown');
  await flushPromises();
  expect(document.title).toBe('Unknown page – Tutti');
});

it('says of a run how far it is, or how it ended', () => {
  const config = runConfigSchema.parse({ maxEpochs: 200 });
  const [rank] = runView().ranks;
  const row = runRow({ name: 'blobs, 4 members' });
  const running = runView({ row, record: runRecord({ config, status: 'running' }), ranks: [{ ...rank, epoch: 11 }] });
  expect(titleOf(running)).toBe('blobs, 4 members · epoch 12/200');
  const ended = { ...running, record: runRecord({ config, status: 'failed' }) };
  expect(titleOf(ended)).toBe('blobs, 4 members · failed');
});
