/** Begins the app in a package that is built for tests: the stand-ins first. */
import { fileURLToPath } from 'node:url';
import { standIn } from './stand-ins.mjs';

const main = new URL('../out/main/electron.js', import.meta.url);
await standIn(fileURLToPath(main));
await import(main.href);
