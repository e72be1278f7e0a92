import { createPinia } from 'pinia';
import { createApp } from 'vue';
import { createMemoryHistory, createRouter } from 'vue-router';
import { z } from 'zod';
import { HubClient, type Transport } from './client/hub-client.ts';
import { hubClientKey } from './client/use-hub.ts';
import './styles/report-font.css';
import './styles.css';
import './styles/report.css';
import { messageOf } from '../core/text/errors.ts';
import ReportPage from './views/run/ReportPage.vue';
import { createBirpc } from 'birpc';
import { type ReportData, reportDataId } from '../core/protocol/pages/run-data.ts';
import type { HubApi } from '../core/protocol/pages/hub-methods.ts';
import { decodeRpc, encodeRpc, type PageApi } from '../core/protocol/pages/rpc.ts';

// Otherwise zod compiles its validators with `new Function`, which the page's security policy forbids.
z.config({ jitless: true });

async function open(): Promise<void> {
  const data = await readReportData();
  document.title = `${data.view.row.name} – Tutti`;
  // The components keep their choices in the address. A report has one page, whose address stays as it is.
  const router = createRouter({
    history: createMemoryHistory(),
    routes: [{ path: '/:rest(.*)*', name: 'run', component: ReportPage }],
  });
  const app = createApp(ReportPage, { data })
    .use(createPinia())
    .use(router)
    .provide(hubClientKey, new HubClient(recordedTransport(data)));
  app.mount('#app');
}

open().catch((error: unknown) => {
  document.body.textContent = `This report cannot be shown: ${messageOf(error)}`;
});

/**
 * Answers the calls of components from a report's data, as the hub would. A report has nothing that can be changed, so
 * every other call is refused.
 */
function recordedTransport(data: ReportData): Transport {
  return {
    connect(listener) {
      let deliver: (bytes: Uint8Array) => void = () => undefined;
      createBirpc<PageApi, HubApi>(recordedHub(data) as HubApi, {
        post: (bytes: Uint8Array) => listener.received(bytes),
        on: (receive) => void (deliver = receive),
        serialize: encodeRpc,
        deserialize: (bytes: Uint8Array) => decodeRpc(bytes),
        timeout: -1,
      });
      queueMicrotask(() => listener.opened());
      return { send: (bytes) => deliver(bytes), close: () => undefined };
    },
  };
}

function recordedHub(data: ReportData): Partial<HubApi> {
  const { view, series, deviceLoads, predictions, postprocessing, relatives } = data;
  return {
    session: async () => ({ role: 'watcher', canInvite: false, program: 'tutti' }),
    watch: async () => undefined,
    unwatch: async () => undefined,
    run: async () => view,
    // Complete as far as the page knows: there is nothing to read again when it zooms.
    series: async () => ({ series: series.map((one) => ({ ...one, total: one.step.length })) }),
    deviceLoads: async () => deviceLoads,
    predictionNames: async () => predictions.map(({ split, name, epoch }) => ({ split, name, epoch })),
    predictions: async (_id, { split, name }) =>
      predictions.find((one) => one.split === split && one.name === name)?.data ?? null,
    postprocessing: async () => postprocessing,
    runs: async ({ ids }) => {
      const rows = ids === undefined ? relatives.forks : relatives.origin;
      return { rows, total: rows.length };
    },
  };
}

/** The data in this page. @throws Error if there is none */
async function readReportData(): Promise<ReportData> {
  const text = document.getElementById(reportDataId)?.textContent;
  if (text === undefined) throw new Error('This page holds no report: write it again with `tutti report`.');
  const packed = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const plain = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  // Written by Tutti together with this script.
  return decodeRpc(new Uint8Array(await new Response(plain).arrayBuffer())) as ReportData;
}
