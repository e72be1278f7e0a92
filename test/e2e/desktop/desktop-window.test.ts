import { readFile, readlink, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, it } from 'vitest';
import packageJson from '../../../package.json' with { type: 'json' };
import { electronBinary } from '../../environment/electron/electron.ts';
import { maximumCallBytes, messageChannel } from '../../../core/protocol/pages/window.ts';
import { exportRun } from '../../../src-main/export/export-run.ts';
import { createRunFolder } from '../../../src-main/store/runs/run-folder.ts';
import { runRecord } from '../../unit/store/records.ts';
import { appArguments, ownPage } from './desktop-entry.ts';
import { describeDesktop, DesktopStage } from './desktop-stage.ts';
import { expect } from '../support/expect.ts';
import { blobs, sine } from '../stage.ts';

const builtPreload = join(import.meta.dirname, '../../..', 'out', 'preload', 'preload.cjs');

describeDesktop('The window', (open) => {
  let stage: DesktopStage;
  let firstStart: DesktopStage['desktop'];
  beforeAll(async () => {
    stage = await DesktopStage.open(open);
    firstStart = stage.desktop;
  });
  afterAll(() => stage.close());

  it('is one, asks for a sandbox and isolation, and has a narrow bridge', async () => {
    const preferences = await stage.desktop.evaluate(({ BrowserWindow }) =>
      BrowserWindow.getAllWindows().map(({ webContents }) =>
        (webContents as unknown as { getLastWebPreferences(): object }).getLastWebPreferences(),
      ),
    );
    expect(preferences).toHaveLength(1);
    expect(preferences[0]).toMatchObject({ sandbox: true, contextIsolation: true, nodeIntegration: false });
    expect(await stage.page.evaluate('Object.keys(window.tutti)')).toEqual([
      'send',
      'onMessage',
      'onCommand',
      'pathOf',
      'openFolder',
      'saveFile',
      'useTheme',
    ]);
  });

  it('reaches neither Node nor a bridge that it could change', async () => {
    const reachable = "[Object.isFrozen(window.tutti), 'require' in window, 'process' in window]";
    expect(await stage.page.evaluate(reachable)).toEqual([true, false, false]);
  });

  it('runs in a process that the kernel confines, in the secure context of its scheme, without violations of its policy', async () => {
    const { desktop, page } = stage;
    const pid = await desktop.evaluate(({ BrowserWindow }) =>
      BrowserWindow.getAllWindows()[0].webContents.getOSProcessId(),
    );
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    const isConfined = !appArguments().includes('--no-sandbox');
    // 2: a filter of system calls. As root, Chromium runs only without its sandbox.
    expect(/^Seccomp:\t(\d)$/m.exec(status)?.[1]).toBe(isConfined ? '2' : '0');
    if (isConfined) {
      const spaceOf = (of: string): Promise<string> => readlink(`/proc/${of}/ns/user`);
      expect(await spaceOf(String(pid))).not.toBe(await spaceOf('self'));
    }
    expect(await page.evaluate('[isSecureContext, origin, window.crossOriginIsolated]')).toEqual([
      true,
      'tutti://app',
      false,
    ]);
    // Standard: relative addresses resolve. A scheme that is not, as `data:` or `file:`, would have no storage.
    expect(await page.evaluate("[new URL('x.js', location.href).href, typeof localStorage.length]")).toEqual([
      'tutti://app/x.js',
      'number',
    ]);
    // The isolated preload shares no objects with the page: changing a built-in of the page does not reach it.
    expect(
      await page.evaluate(`(() => {
        const own = Array.prototype.push;
        Array.prototype.push = () => { throw new Error('The page reaches the preload.'); };
        try { return typeof window.tutti.onMessage(() => undefined); } finally { Array.prototype.push = own; }
      })()`),
    ).toBe('function');
    await page.evaluate(`(() => {
      window.violations = [];
      addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => window.violations.push([violatedDirective, blockedURI]));
    })()`);
    for (const address of ['/runs', '/settings', '/studies', '/discover', '/']) {
      await stage.visit(address);
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
    }
    expect(await page.evaluate('window.violations')).toEqual([]);
  });

  it('navigates to no other address and opens no other window', async () => {
    const { page, desktop } = stage;
    const address = page.url();
    await page.evaluate("location.href = 'http://127.0.0.1:9/'");
    await page.evaluate("void window.open('http://127.0.0.1:9/')");
    await expect.poll(() => desktop.pages().map((one) => one.url())).toEqual([address]);
    // Playwright's locators would wait for the end of the navigation that was prevented, until the page loads again.
    expect(await page.evaluate("document.querySelector('h1').textContent")).toBe('Projects');
    await page.reload();
  });

  it('gets no permission, and runs or fetches only its own resources', async () => {
    const states = await stage.page.evaluate<string[]>(
      `Promise.all(['geolocation', 'notifications', 'midi'].map(
        async (name) => (await navigator.permissions.query({ name })).state))`,
    );
    expect(states).toEqual(['denied', 'denied', 'denied']);
    const refused = await stage.page.evaluate<string[]>(`Promise.all([
      // Later: what a test evaluates may itself do what the page may not.
      new Promise((resolve) => setTimeout(() => { try { resolve(new Function('return "run"')()) } catch ({ name }) { resolve(name) } })),
      fetch('http://127.0.0.1:9/').catch(({ name }) => name),
      new Promise((resolve) => addEventListener('securitypolicyviolation', ({ violatedDirective }) => resolve(violatedDirective))),
    ])`);
    expect(refused).toEqual(['EvalError', 'TypeError', 'connect-src']);
  });

  it('is the only accepted sender: another frame or window is ignored', async () => {
    const { desktop, page } = stage;
    await page.evaluate('window.isStillHere = true');
    const bytes = new Uint8Array(maximumCallBytes + 1);
    await desktop.evaluate(
      ({ BrowserWindow }, { channel, sent }) => {
        const [{ webContents }] = BrowserWindow.getAllWindows();
        for (const senderFrame of [null, {}]) webContents.ipc.emit(channel, { senderFrame }, sent);
      },
      { channel: messageChannel, sent: bytes },
    );
    try {
      await desktop.evaluate(async ({ BrowserWindow }, preload) => {
        await new BrowserWindow({ width: 200, height: 200, webPreferences: { preload } }).loadURL('about:blank');
      }, builtPreload);
      // Its page may be replaced during the call, while it loads.
      const askStranger = async (): Promise<unknown> => {
        const stranger = desktop.pages().find((one) => one.url() === 'about:blank');
        const call = 'window.tutti.openFolder().catch(({ message }) => message)';
        return stranger?.evaluate(call).catch(({ message }: Error) => message);
      };
      await expect.poll(askStranger).toMatch(/No handler registered/);
    } finally {
      // The tests that follow must not find it.
      await desktop.evaluate(({ BrowserWindow }) =>
        BrowserWindow.getAllWindows()
          .filter((one) => one.getBounds().width < 500)
          .forEach((one) => one.destroy()),
      );
    }
    expect(await page.evaluate('window.isStillHere')).toBe(true);
  });

  it('is rejected after an invalid call, and reloads', async () => {
    const { page } = stage;
    const reloaded = page.waitForEvent('load');
    await page.evaluate(`window.tutti.send(new Uint8Array(${maximumCallBytes + 1}))`);
    await reloaded;
    expect(await page.evaluate('window.isStillHere')).toBeUndefined();
    await expect(page.getByRole('link', { name: 'Train Heteroscedastic regression' })).toBeVisible();
  });

  it('saves only exports', async () => {
    const saved = stage.page.evaluate("window.tutti.saveFile('/etc/passwd').catch(({ message }) => message)");
    expect(await saved).toMatch(/\/etc\/passwd is not an export/);
  });

  it('opens a folder dropped on it, or shows what is wrong with it', async () => {
    const { desktop, page } = stage;
    await desktop.drop(blobs);
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Overlapping blobs');
    await desktop.drop(stage.home);
    await expect(page.getByRole('status').getByText(/There is no project in/)).toBeVisible();
  });

  it('opens a folder chosen in the menu, and offers it again', async () => {
    const { desktop, page } = stage;
    await desktop.evaluate(({ dialog }, folder) => {
      dialog.showOpenDialog = async () => ({ canceled: false, filePaths: [folder] });
    }, sine);
    await stage.choose('Open Project…');
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Heteroscedastic regression');
    await stage.choose(`blobs  (${blobs})`);
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Overlapping blobs');
  });

  it("performs the menu's commands", async () => {
    const { page } = stage;
    await stage.choose('Keyboard Shortcuts');
    await expect(page.getByRole('dialog', { name: 'Shortcuts' })).toBeVisible();
    await page.keyboard.press('Escape');
    await stage.choose('Dark');
    await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
    await stage.choose('Attach to a Remote Run…');
    const attach = page.getByRole('dialog', { name: 'Attach to a remote run' });
    await attach.getByLabel('Address').fill('login');
    await expect(attach.getByRole('status')).toContainText('Write user@login:run');
    await page.keyboard.press('Escape');
    await expect.poll(() => page.url()).toMatch(/#\/runs$/);
    await stage.visit('/');
    await stage.choose('Export Run…');
    await expect(page.getByText('This command needs a run. Open its page first.')).toBeVisible();
  });

  it('says which versions run, and opens their licences', async () => {
    const { desktop } = stage;
    await desktop.evaluate(({ dialog, shell }) => {
      dialog.showMessageBox = async (...args: unknown[]) => {
        Object.assign(globalThis, { about: args.at(-1) });
        return { response: 2, checkboxChecked: false };
      };
      shell.openPath = async (path) => {
        Object.assign(globalThis, { licences: path });
        return '';
      };
    });
    await stage.choose('About Tutti');
    const seen = () =>
      desktop.evaluate(() => {
        const { about, licences } = globalThis as unknown as {
          about?: Electron.MessageBoxOptions;
          licences?: string;
        };
        return { message: about?.message, detail: about?.detail, buttons: about?.buttons, licences };
      });
    await expect.poll(seen).toMatchObject({
      message: `Tutti ${packageJson.version}`,
      detail: expect.stringMatching(/\nElectron 33\.2\.1\nChromium 130\.[\d.]+\nNode 20\.18\.\d\nV8 13\.0/),
      buttons: ['Close', 'Licences of Packages', 'Licences of Chromium'],
      licences: join(dirname(electronBinary), 'LICENSES.chromium.html'),
    });
  });

  it('opens further windows, each with its page, and closes them alone', async () => {
    const { desktop } = stage;
    await stage.visit('/settings');
    await stage.choose('Open in New Window');
    const addresses = (): string[] => desktop.pages().map((one) => one.url().replace(/^.*#/, ''));
    await expect.poll(addresses).toEqual(['/settings', '/settings']);
    // A link of a page that is opened with Ctrl.
    await stage.page.getByRole('link', { name: 'Runs', exact: true }).click({ modifiers: ['Control'] });
    await expect.poll(addresses).toEqual(['/settings', '/settings', '/runs']);
    const third = desktop.pages()[2];
    await expect(third.getByRole('heading', { level: 1 })).toHaveText('Runs');
    await third.close();
    await desktop.pages()[1].close();
    await expect.poll(addresses).toEqual(['/settings']);
    await stage.visit('/');
  });

  it('opens its page in a browser, with a link that works once and is in no command line', async () => {
    const { desktop } = stage;
    await stage.visit('/settings');
    await desktop.evaluate(({ shell }) => {
      shell.openExternal = async (address) => void Object.assign(globalThis, { opened: address });
    });
    await stage.choose('Open in Browser');
    const opened = () => desktop.evaluate(() => (globalThis as unknown as { opened?: string }).opened);
    await expect.poll(opened).toMatch(/^file:/);
    const file = fileURLToPath((await opened()) ?? '');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const link = /url=(http:[^"]*)/.exec(await readFile(file, 'utf8'))?.[1] ?? '';
    expect(link).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]{43}#\/settings$/);
    const [first, second] = [await fetch(link), await fetch(link)];
    expect([first.status, second.status]).toEqual([200, 401]);
    expect(first.headers.get('set-cookie')).toContain('HttpOnly');
    await stage.visit('/');
  });

  it('comes to the front when the app is started again, and opens the given folder', async () => {
    const { desktop, page } = stage;
    await desktop.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0].minimize());
    expect(await desktop.startAgain(sine)).toBe(0);
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Heteroscedastic regression');
    expect(
      await desktop.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows().map((one) => one.isMinimized())),
    ).toEqual([false]);
  });

  it('imports an exported run with which it is started again, opens run folders, and lists both as recent', async () => {
    const { desktop, page, home } = stage;
    const folder = join(home, 'elsewhere', 'run-1');
    await createRunFolder(folder, runRecord({ status: 'finished', endedAt: '2026-01-02T03:06:05.000Z' }));
    const file = join(home, 'best run.tutti');
    await exportRun(folder, { to: file, zip: true });
    await desktop.evaluate(({ app }) => {
      const recent: string[] = [];
      app.addRecentDocument = (path) => void recent.push(path);
      Object.assign(globalThis, { recent });
    });
    // A file manager gives an address.
    expect(await desktop.startAgain(pathToFileURL(file).href)).toBe(0);
    await expect.poll(() => page.url()).toMatch(/#\/runs\/run-1$/);
    await expect(page.getByText('The run was imported.')).toBeVisible();
    // macOS names what was dropped on the icon, or opened there.
    await desktop.evaluate(({ app }, path) => app.emit('open-file', { preventDefault: () => undefined }, path), folder);
    await expect.poll(() => page.url()).toMatch(/#\/runs\/run-1~[\da-f]{6}$/);
    const imported = join(home, 'runs', 'run-1');
    const recent = () => desktop.evaluate(() => (globalThis as unknown as { recent: string[] }).recent);
    await expect.poll(recent).toEqual([imported, folder]);
    await stage.choose(`first  (${imported})`);
    await expect.poll(() => page.url()).toMatch(/#\/runs\/run-1$/);
    await desktop.evaluate(({ dialog }, path) => {
      dialog.showOpenDialog = async () => ({ canceled: false, filePaths: [path] });
    }, file);
    await stage.visit('/');
    await stage.choose('Import Run…');
    await expect.poll(() => page.url()).toMatch(/#\/runs\/run-1$/);
    await stage.visit('/');
  });

  it('opens all windows again after it was killed, where they were, with their pages, zoom and theme', async () => {
    const { desktop, home } = stage;
    // Two steps of Chromium.
    const zoom = 1.2;
    const [first, second] = [
      { x: 320, y: 140, width: 1100, height: 720 },
      { x: 40, y: 60, width: 1040, height: 710 },
    ];
    await stage.visit('/settings');
    await stage.choose('New Window');
    await expect.poll(() => desktop.pages()).toHaveLength(2);
    await desktop.evaluate(
      ({ BrowserWindow }, given) => {
        // Electron lists the newest window first.
        BrowserWindow.getAllWindows().forEach((window, index) => window.setBounds(given[index]));
      },
      [second, first],
    );
    await stage.choose('Zoom In');
    await stage.choose('Zoom In');
    const kept = async (): Promise<unknown> => JSON.parse(await readFile(join(home, 'window.json'), 'utf8'));
    await expect.poll(kept).toMatchObject({
      windows: [expect.objectContaining(first), expect.objectContaining(second)],
      zoom: expect.closeTo(zoom),
      theme: 'dark',
    });
    desktop.signal('SIGKILL');
    await desktop.exited;
    const complaints = (await desktop.complaints).split('\n').filter((line) => line !== '');
    await stage.reopen();
    // It complains about the page that sent an invalid call, and Electron about the window that is not the app's.
    if (desktop === firstStart) expect(complaints).not.toEqual([]);
    for (const line of complaints.filter((one) => !one.startsWith('    at ')))
      expect(line).toMatch(/^The page was disconnected|^Error occurred in handler/);
    await expect.poll(() => stage.desktop.pages()).toHaveLength(2);
    const found = await stage.desktop.evaluate(({ BrowserWindow }) =>
      BrowserWindow.getAllWindows().map((one) => ({
        bounds: one.getBounds(),
        zoom: one.webContents.getZoomFactor(),
        hash: new URL(one.webContents.getURL()).hash,
      })),
    );
    expect(found.sort((a, b) => a.bounds.x - b.bounds.x)).toEqual([
      { bounds: second, zoom: expect.closeTo(zoom), hash: expect.stringMatching(/^(#\/)?$/) },
      { bounds: first, zoom: expect.closeTo(zoom), hash: '#/settings' },
    ]);
    // The tests that follow expect one window, in its usual size.
    await stage.choose('Actual Size');
    await stage.desktop.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0].close());
    await expect.poll(() => stage.desktop.pages()).toHaveLength(1);
    stage.page = await ownPage(stage.desktop);
  });

  it("gives the system's menus and dialogs the theme of the page", async () => {
    const source = () => stage.desktop.evaluate(({ nativeTheme }) => nativeTheme.themeSource);
    expect(await source()).toBe('dark');
    await stage.choose('Light');
    await expect.poll(source).toBe('light');
  });

  it('loads its page again after a crash, and says so after the fourth within a minute', async () => {
    const { desktop } = stage;
    /** Ends the page's process. Playwright's page ends with it, so that only the main process can say what follows. */
    const crash = (): Promise<string> =>
      desktop.evaluate(({ BrowserWindow }) => {
        const [{ webContents }] = BrowserWindow.getAllWindows();
        return new Promise((resolve) => {
          webContents.once('did-finish-load', () => resolve(webContents.getURL().replace(/[#,].*/, '')));
          webContents.forcefullyCrashRenderer();
        });
      });
    const page = 'tutti://app/';
    expect([await crash(), await crash(), await crash()]).toEqual([page, page, page]);
    expect(await crash()).toMatch(/^data:text\/html/);
    const heading = await desktop.evaluate(({ BrowserWindow }) =>
      BrowserWindow.getAllWindows()[0].webContents.executeJavaScript("document.querySelector('h1').textContent"),
    );
    expect(heading).toBe('The page crashed four times within a minute');
  });
});
