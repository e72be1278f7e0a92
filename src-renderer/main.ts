import { createPinia } from 'pinia';
import { createApp } from 'vue';
import { z } from 'zod';
import App from './App.vue';
import { bridgeTransport, listenToWindow } from './client/window-commands.ts';
import { HubClient } from './client/hub-client.ts';
import { hubClientKey } from './client/use-hub.ts';
import { onNewKey, webSocketTransport } from './client/web-socket.ts';
import { router } from './router.ts';
import { useToastsStore } from './stores/toasts.ts';
import '@fontsource-variable/inter/wght.css';
import './styles.css';

// Otherwise zod compiles its validators with `new Function`, which the page's security policy forbids.
z.config({ jitless: true });

const transport = window.tutti === undefined ? webSocketTransport() : bridgeTransport(window.tutti);
const client = new HubClient(transport);
onNewKey(() => client.retryNow());
const app = createApp(App).use(createPinia()).use(router).provide(hubClientKey, client);

const toasts = app.runWithContext(() => useToastsStore());
app.config.errorHandler = (error) => {
  console.error(error);
  toasts.fail(error);
};
window.addEventListener('unhandledrejection', ({ reason }) => toasts.fail(reason));

if (window.tutti !== undefined) listenToWindow(window.tutti, (hint) => toasts.tell(hint));
// Charts measure and draw their texts once, so that the font has to be there. Without it the system's font stands in.
void document.fonts
  .load('13px "Inter Variable"')
  .catch((error: unknown) => console.error(error))
  .then(() => app.mount('#app'));
