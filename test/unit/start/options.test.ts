import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { findAppBrowser } from '../../../src-main/processes/app-files.ts';
import { parseStartOptions, startHelp } from '../../../src-main/start/options.ts';

describe('the options of the dashboard', () => {
  it('choose the front end, its port, and whether to open it', () => {
    expect(parseStartOptions([])).toEqual({
      frontEnd: 'auto',
      host: '127.0.0.1',
      certificate: null,
      port: 0,
      isOpened: true,
      isLinkOnly: false,
    });
    expect(parseStartOptions(['--browser', '--port', '8080', '--no-open'])).toEqual({
      frontEnd: 'browser',
      host: '127.0.0.1',
      certificate: null,
      port: 8080,
      isOpened: false,
      isLinkOnly: false,
    });
    expect(parseStartOptions(['--desktop'])).toMatchObject({ frontEnd: 'desktop' });
    expect(parseStartOptions(['--help'])).toBe('help');
    expect(parseStartOptions(['--link', '--port', '8080'])).toMatchObject({ isLinkOnly: true, port: 8080 });
    const certificate = ['--tls-cert', 'cert.pem', '--tls-key', 'key.pem'];
    expect(parseStartOptions(['--host', '0.0.0.0', ...certificate])).toMatchObject({
      frontEnd: 'browser',
      host: '0.0.0.0',
      certificate: { certificate: 'cert.pem', key: 'key.pem' },
    });
    expect(parseStartOptions(['--host', '::1'])).toMatchObject({ frontEnd: 'browser', host: '::1', certificate: null });
  });

  it.each([
    [['--browser', '--desktop'], '--browser and --desktop exclude each other: use one of them.'],
    [['--port', '0'], '--port 0 is not a port: use a whole number from 1 to 65535, or omit it.'],
    [['--port', 'http'], '--port http is not a port: use a whole number from 1 to 65535, or omit it.'],
    [['--host', '0.0.0.0'], '--host 0.0.0.0 lets other machines connect, which needs TLS'],
    [['--host', 'workstation', '--tls-cert', 'cert.pem'], '--tls-cert and --tls-key belong together: give both.'],
    [['--host', '::1', '--desktop'], '--desktop has no server'],
    [['--brwser'], startHelp],
  ])('refuse %j', (args, message) => {
    expect(() => parseStartOptions(args)).toThrow(message);
  });
});

describe('the browser for the window', () => {
  it('is the first Chromium on the PATH, or none without a display', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tutti-browser-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    await writeFile(join(folder, 'chromium'), 'not to be run');
    await writeFile(join(folder, 'google-chrome'), '');
    await chmod(join(folder, 'google-chrome'), 0o755);
    const PATH = `/nowhere:${folder}`;
    expect(findAppBrowser({ PATH, DISPLAY: ':0' })).toBe(join(folder, 'google-chrome'));
    expect(findAppBrowser({ PATH: '/nowhere', DISPLAY: ':0' })).toBeNull();
    expect(findAppBrowser({ PATH })).toBeNull();
  });
});
