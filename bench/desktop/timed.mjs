/**
 * Runs an app in Electron (`TUTTI_BENCH_APP`) and prints when its first window has its first picture, in ms since 1970.
 */
import { pathToFileURL } from 'node:url';
import { app } from 'electron';

app.once('browser-window-created', (_event, window) => {
  window.once('ready-to-show', () => console.error(`The first picture came at ${Date.now()}`));
});
await import(pathToFileURL(process.env.TUTTI_BENCH_APP).href);
