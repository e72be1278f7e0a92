import { type ComponentMountingOptions, flushPromises, mount, type VueWrapper } from '@vue/test-utils';
import { createPinia } from 'pinia';
import { afterEach } from 'vitest';
import type { Component } from 'vue';
import { createMemoryHistory, createRouter, type Router } from 'vue-router';
import type { HubApi } from '../../core/protocol/pages/hub-methods.ts';
import { HubClient } from '../../src-renderer/client/hub-client.ts';
import { hubClientKey } from '../../src-renderer/client/use-hub.ts';
import { routes } from '../../src-renderer/router.ts';
import { FakeHub } from '../unit/renderer/fake-hub.ts';

export interface MountedPage {
  wrapper: VueWrapper;
  router: Router;
  hub: FakeHub;
  /** Calls of the hub's methods, with their arguments. */
  calls: [method: string, ...args: unknown[]][];
}

/** The hub's answer by method. Other methods return nothing. */
export type HubAnswers = { [M in keyof HubApi]?: (...args: Parameters<HubApi[M]>) => unknown };

const mounted: VueWrapper[] = [];
afterEach(() => {
  for (const wrapper of mounted.splice(0)) wrapper.unmount();
});

/**
 * Mounts a component into the document as the app does, with pinia, the router and a hub in memory.
 * @param options `address` is the router's location (`/runs?status=failed`)
 */
export async function mountPage(
  component: Component,
  options: { props?: object; slots?: ComponentMountingOptions<Component>['slots']; address?: string } = {},
  answers: HubAnswers = {},
): Promise<MountedPage> {
  const { props = {}, slots, address = '/' } = options;
  const router = createRouter({ history: createMemoryHistory(), routes });
  await router.push(address);
  const hub = new FakeHub();
  const calls: MountedPage['calls'] = [];
  hub.api = recorded(answers, calls);
  const client = new HubClient(hub);
  hub.last.opened();
  const wrapper = mount(component, {
    props: { ...props },
    slots,
    attachTo: document.body,
    global: { plugins: [createPinia(), router], provide: { [hubClientKey as symbol]: client } },
  });
  mounted.push(wrapper);
  await flushPromises();
  return { wrapper, router, hub, calls };
}

/** Answers that record each call. A method without an answer returns `undefined`. */
function recorded(answers: HubAnswers, calls: MountedPage['calls']): FakeHub['api'] {
  return new Proxy<FakeHub['api']>(
    {},
    {
      get:
        (_target, method) =>
        (...args: never[]) => {
          calls.push([String(method), ...args]);
          const answer = (answers as FakeHub['api'])[String(method)];
          return answer?.(...args);
        },
    },
  );
}

/** The button with this text in the whole document, because dialogs and menus are outside of the component. */
export function buttonNamed(name: string): HTMLButtonElement {
  const all = [...document.querySelectorAll<HTMLButtonElement>('button, [role=menuitem]')];
  const found = all.find((button) => (button.getAttribute('aria-label') ?? button.textContent.trim()) === name);
  if (found === undefined) {
    throw new Error(`No button "${name}" among ${all.map((button) => button.textContent.trim()).join(', ')}.`);
  }
  return found;
}
