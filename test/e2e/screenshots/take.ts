import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildIfStale } from '../../../src-main/built/build.ts';
import { findChromium } from '../support/chromium.ts';
import { Stage } from '../stage.ts';
import { Camera } from './camera.ts';
import { takeCreation } from './creation.ts';
import { compareWith } from './compare.ts';
import { takeDesktop } from './take-desktop.ts';
import { takeDesign } from './take-design.ts';
import { takePages } from './pages.ts';

/**
 * `npm run screenshots`: takes `docs/screenshots/`, every page in both themes at three widths, from runs trained for
 * it, and the references of the design page's test. `--design` takes only the latter, `--create` only the page "New from
 * data", `--desktop` only the window of the desktop app (in the Electron of the tests); `--before <revision>` only lays
 * the pictures that a commit has beside the present ones.
 */

const root = join(import.meta.dirname, '..', '..', '..');
const folder = join(root, 'docs', 'screenshots');
/** Pages whose pictures the documentation shows by themselves. */
const shown = [
  'run-live',
  'run-ensemble',
  'run-checkpoints',
  'configure',
  'runs',
  'study',
  'new-study',
  'projects',
  'compare',
];

async function takeAll(): Promise<void> {
  const chromium = findChromium();
  if (chromium === null) throw new Error('There is no Chromium to take screenshots with. Install chromium.');
  await buildIfStale();
  const stage = await Stage.open(chromium);
  try {
    const page = await stage.openPage();
    if (!values.create) await takeDesign(page);
    if (values.design) return;
    const camera = new Camera(page, folder, { [stage.home]: '~/.tutti', [root]: '~/tutti' }, shown);
    await takeCreation(page, camera, stage.home);
    if (!values.create) await takePages(page, camera);
  } finally {
    await stage.close(/./);
  }
}

const { values } = parseArgs({
  options: {
    design: { type: 'boolean' },
    create: { type: 'boolean' },
    desktop: { type: 'boolean' },
    before: { type: 'string' },
  },
});
if (values.before !== undefined) await compareWith(values.before, root);
else await (values.desktop === true ? takeDesktop(folder) : takeAll());
