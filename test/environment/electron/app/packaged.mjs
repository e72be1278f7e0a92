/** Begins the app in a package that is built for tests: the stand-ins first. */
import { standIn } from './stand-ins.mjs';

standIn();
await import('../out/main/electron.js');
