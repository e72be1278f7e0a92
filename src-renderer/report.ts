import { createPinia } from 'pinia';
import { createApp } from 'vue';
import { createMemoryHistory, createRouter } from 'vue-router';
import { z } from 'zod';
import { HubClient } from './client/hub-client.ts';
import { hubClientKey } from './client/use-hub.ts';
import './report/font.css';
import './styles.css';
import './report/report.css';
import { messageOf } from '../core/text/errors.ts';
import { readReportData } from './report/read-data.ts';
import { recordedTransport } from './report/recorded-hub.ts';
import ReportPage from './report/ReportPage.vue';

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
