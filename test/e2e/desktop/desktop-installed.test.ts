import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { chromium, type Page } from '@playwright/test';
import { afterAll, beforeAll, describe, it } from 'vitest';
import packaging from '../../../electron-builder.config.ts';
import packageJson from '../../../package.json' with { type: 'json' };
import { measureApp, mostAppBytes, totalBytes } from '../../../scripts/package/app-parts.ts';
import { openDisplay } from '../../environment/electron/display.ts';
import { buildDeb } from '../../environment/package/build-deb.ts';
import { Chroot, whyNoChroot } from '../../environment/package/chroot.ts';
import { notRun } from '../../environment/reasons.ts';
import { expectStatus } from '../stage.ts';
import { expect, patienceMs } from '../support/expect.ts';

const reason = whyNoChroot();
const example = '/opt/Tutti/resources/app.asar.unpacked/examples/00_heteroscedastic_regression';

describe.skipIf(reason !== null)(`The Debian package, installed in a Debian 12${notRun(reason)}`, () => {
  let output: string;
  let deb: { file: string; app: string };
  let system: Chroot;
  let filesBefore: string[];

  beforeAll(async () => {
    output = await mkdtemp(join(tmpdir(), 'tutti-deb-'));
    deb = await buildDeb(output);
    system = await Chroot.open(output);
    await system.run('root', 'useradd', '--create-home', 'user');
    filesBefore = await listFiles();
    await system.run('root', 'dpkg', '--install', '--force-unsafe-io', `/mnt/${basename(deb.file)}`);
  });
  afterAll(async () => {
    await system.close();
    await rm(output, { recursive: true, force: true });
  });

  /** Every file that a package could leave behind. Logs and caches are the system's. */
  async function listFiles(): Promise<string[]> {
    const left = '^/(proc|dev|mnt|tmp|home|var/log|var/cache|var/lib/dpkg/(status|triggers|lock|available))';
    const listed = await system.run('root', 'find', '/', '-xdev', '-regextype', 'egrep', '-not', '-regex', `${left}.*`);
    return listed.split('\n').sort();
  }

  it('has at most 420 MB', async () => {
    const parts = await measureApp(deb.app);
    expect(totalBytes(parts)).toBeLessThan(mostAppBytes);
    // Each part is found where it is looked for.
    for (const [name, bytes] of parts) expect([name, bytes > 1e5]).toEqual([name, true]);
  });

  it('has all that it needs by its dependencies', async () => {
    expect(await system.run('root', 'dpkg', '--audit')).toBe('');
    const libraries = await system.run('root', 'find', '/opt/Tutti', '-name', '*.so', '-o', '-name', '*.node');
    const programs = [
      '/opt/Tutti/tutti-desktop',
      '/opt/Tutti/chrome_crashpad_handler',
      ...libraries.trim().split('\n'),
    ];
    const linked = await system.run('root', 'ldd', ...programs);
    expect(linked).toContain('libgbm.so.1 =>');
    expect(linked.split('\n').filter((line) => line.includes('not found'))).toEqual([]);
  });

  it('names its dependencies, and its window to the desktop', async () => {
    const depends = await system.run('root', 'dpkg-query', '--show', '--showformat', '${Depends}', 'tutti');
    expect(depends.split(', ')).toEqual(packaging.deb.depends);
    const associations = [...packaging.fileAssociations, ...packaging.linux.fileAssociations];
    const types = associations.map(({ mimeType }) => mimeType);
    const entry = await system.run('root', 'cat', '/usr/share/applications/tutti-desktop.desktop');
    expect(entry.split('\n')).toEqual(
      expect.arrayContaining([
        '[Desktop Entry]',
        'Name=Tutti',
        'Exec=/opt/Tutti/tutti-desktop %U',
        'Icon=tutti-desktop',
        'StartupWMClass=tutti-desktop',
        'Categories=Science;',
        `MimeType=${[...packaging.linux.mimeTypes, ...types].join(';')};`,
      ]),
    );
    // What the system knows by a file's name, once the package is installed.
    const known = (await system.run('root', 'cat', '/usr/share/mime/globs')).split('\n');
    expect(known).toEqual(expect.arrayContaining(associations.map(({ ext, mimeType }) => `${mimeType}:*.${ext}`)));
    for (const type of packaging.linux.mimeTypes) expect(known.join('\n')).toContain(`${type}:*.`);
    expect(await system.run('root', 'find', '/usr/share/icons', '-name', 'tutti-desktop.png')).toMatch(/\/256x256\//);
  });

  it('has a command line that creates a project and trains it', async () => {
    expect(await system.run('user', 'tutti', '--version')).toBe(`${packageJson.version}\n`);
    await system.run('user', 'tutti', 'create', 'mine', '--template', 'tabular');
    const said = await system.run('user', 'tutti', 'train', 'mine', '--members', '2', '--max-epochs', '1');
    expect(said).toContain('finished after 1 epoch, 5 steps');
    // What it prints and writes names the command that this package brings.
    const readme = await system.run('user', 'cat', 'mine/README.md');
    expect(readme).toContain('\ntutti train .');
    expect(readme).not.toContain('npx tutti');
    expect(await system.run('user', 'sh', '-c', 'tutti doctor; tutti create other')).not.toMatch(/npx tutti|npm start/);
    const { id } = JSON.parse(await system.run('user', 'tutti', 'runs', '--json')) as { id: string };
    await system.run('user', 'tutti', 'report', id, '--output', 'report.html');
    expect(await system.run('user', 'head', '--bytes=15', 'report.html')).toBe('<!doctype html>');
  });

  it('has a window in which a user trains an example', async () => {
    await withWindow(async (page, variables) => {
      const overrides = { members: 2, maxEpochs: 20 };
      const query = new URLSearchParams({ project: example, set: JSON.stringify(overrides) });
      await page.evaluate(`location.hash = ${JSON.stringify(`/configure?${query.toString()}`)}`);
      await page.getByRole('button', { name: 'Start', exact: true }).click();
      await expectStatus(page, 'finished');
      await expectConfined();
      // The first start shows the window; with --desktop the command would rather fail than open a browser.
      const [command, ...rest] = system.command('user', ['tutti', 'dashboard', '--desktop'], variables);
      await promisify(execFile)(command, rest);
    });
  });

  /**
   * The kernel confines the page's process: a filter of system calls, and namespaces apart from those of the app.
   * Inside a chroot only Chromium's helper with root's rights can make them, so that users are the same.
   */
  async function expectConfined(): Promise<void> {
    const look = `
      app=$(pgrep --oldest --exact tutti-desktop)
      page=$(pgrep --newest --full '[-]-type=renderer')
      grep Seccomp: /proc/$page/status
      for space in pid net; do [ $(readlink /proc/$page/ns/$space) = $(readlink /proc/$app/ns/$space) ] || echo own $space; done`;
    const seen = await system.run('root', 'sh', '-c', look);
    expect(seen.trim().split('\n')).toEqual(['Seccomp:\t2', 'own pid', 'own net']);
  }

  it('leaves nothing behind when it is removed', async () => {
    await system.run('root', 'dpkg', '--purge', '--force-unsafe-io', 'tutti');
    const before = new Set(filesBefore);
    expect((await listFiles()).filter((file) => !before.has(file))).toEqual([]);
  });

  /** Starts the app as a user does, and gives its page. */
  async function withWindow(use: (page: Page, variables: Record<string, string>) => Promise<void>): Promise<void> {
    const display = await openDisplay();
    const variables = windowVariables(display.env.DISPLAY);
    const program = ['tutti-desktop', '--remote-debugging-port=0'];
    const [command, ...rest] = system.command('user', program, variables);
    const app = spawn(command, rest, { stdio: ['ignore', 'ignore', 'pipe'] });
    const exited = once(app, 'exit');
    try {
      const browser = await chromium.connectOverCDP(await debuggerAddress(app.stderr));
      const pages = (): Page[] => browser.contexts().flatMap((context) => context.pages());
      await expect.poll(() => pages().length).toBe(1);
      const [page] = pages();
      page.setDefaultTimeout(patienceMs);
      await expect(page.getByRole('navigation', { name: 'Pages' })).toBeVisible();
      await use(page, variables);
    } finally {
      await system.run('root', 'pkill', '--oldest', '--exact', 'tutti-desktop');
      await exited;
      await display.close();
    }
  }
});

/**
 * A home apart from that of the command line: Debian 12's SQLite, which stands in for Electron's, cannot read the index
 * that a newer one has written.
 */
function windowVariables(display: string): Record<string, string> {
  return { DISPLAY: display, TUTTI_HOME: '/home/user/window' };
}

/**
 * Chromium prints the address at which it can be driven. Later lines are read too: the app waits where nobody reads.
 */
function debuggerAddress(output: Readable): Promise<string> {
  return new Promise((resolve, reject) => {
    const lines = createInterface({ input: output });
    const printed: string[] = [];
    lines.on('line', (line) => {
      printed.push(line);
      const [, address] = /^DevTools listening on (ws:\S+)$/.exec(line) ?? [];
      if (address !== undefined) resolve(address);
    });
    lines.on('close', () => reject(new Error(`The app ended without a window:\n${printed.join('\n')}`)));
  });
}
