import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { it, onTestFinished } from 'vitest';
import { openDisplay } from '../../environment/electron/display.ts';
import { electronBinary } from '../../environment/electron/electron.ts';
import { expect } from '../support/expect.ts';
import { appArguments } from './desktop-entry.ts';
import { describeDesktop } from './desktop-stage.ts';

describeDesktop('A start that fails', () => {
  it('is told in a box, and ends the app', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tutti-start-'));
    const display = await openDisplay();
    onTestFinished(async () => {
      await display.close();
      await rm(folder, { recursive: true });
    });
    const home = join(folder, 'home');
    await writeFile(home, 'a file');
    const env = { ...process.env, ...display.env, TUTTI_HOME: home };
    const app = spawn(electronBinary, appArguments(), { env, stdio: ['ignore', 'ignore', 'pipe'] });
    const [output, [code]] = await Promise.all([text(app.stderr), once(app, 'exit')]);
    expect(code).toBe(1);
    expect(output).toMatch(/\[Tutti could not start\] .*home/);
  });
});
