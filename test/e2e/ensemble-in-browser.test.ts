import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium as playwright } from '@playwright/test';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleForBrowsers } from '../../scripts/package/bundle.ts';
import { exportRun } from '../../src-main/export/export-run.ts';
import { startBackend } from '../../workers/backends/backend.ts';
import { openEnsemble } from '../../workers/index.ts';
import { tf } from '../../workers/tensorflow/tf.ts';
import { notRun } from '../environment/reasons.ts';
import { runWithModels } from '../unit/inference/run-with-models.ts';
import { chromium, noChromium } from './support/browser.ts';

let folder = '';
let server: Server | null = null;

/** Serves the folder's files. */
async function serve(): Promise<string> {
  const started = createServer((request, response) => {
    const path = (request.url ?? '/').slice(1);
    const type = path.endsWith('.js') ? 'text/javascript' : path === '' ? 'text/html' : 'application/octet-stream';
    const content = path === '' ? Promise.resolve('<!doctype html>') : readFile(join(folder, path));
    content.then(
      (bytes) => response.writeHead(200, { 'content-type': type }).end(bytes),
      () => response.writeHead(404).end(),
    );
  });
  server = started;
  await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve));
  const address = started.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`;
}

describe.skipIf(noChromium !== null)(`an exported ensemble in a browser${notRun(noChromium)}`, () => {
  beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'tutti-browser-'))));
  afterAll(async () => {
    server?.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('predicts the same as in Node', async () => {
    await startBackend('cpu');
    const { conv2d, dense, flatten } = tf.layers;
    const models = [1, 2].map(() =>
      tf.sequential({
        layers: [
          conv2d({ filters: 2, kernelSize: 3, activation: 'relu', inputShape: [5, 5, 1] }),
          flatten(),
          dense({ units: 3 }),
        ],
      }),
    );
    const preprocessing = { format: 1 as const, steps: [{ kind: 'standardize' as const, mean: [0.4], std: [0.2] }] };
    const run = await runWithModels(models, { task: 'classification', preprocessing });
    await exportRun(run, { to: join(folder, 'model'), zip: false, formats: ['ensemble'] });
    const values = Uint8Array.from({ length: 50 }, (_, i) => (i * 37) % 256);
    const expected = await (await openEnsemble(join(folder, 'model'))).predict({ values });
    await bundleForBrowsers(join(import.meta.dirname, '..', '..'), folder);
    const base = await serve();
    const browser = await playwright.launch({ executablePath: chromium ?? '' });
    try {
      const page = await browser.newPage();
      await page.goto(base);
      // As text: the test's own loader would change an import in a function.
      const found = await page.evaluate<{ mean: number[]; members: number[] }>(
        `(async () => {
          const { openEnsemble } = await import('/browser.js');
          const ensemble = await openEnsemble('/model');
          const { mean, members } = await ensemble.predict({ values: Uint8Array.from([${values.join()}]) });
          return { mean: [...mean], members: [...members] };
        })()`,
      );
      expect(found.mean).toEqual([...expected.mean].map((value) => expect.closeTo(value, 5)));
      expect(found.members).toEqual([...expected.members].map((value) => expect.closeTo(value, 5)));
    } finally {
      await browser.close();
    }
  });
});
