import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { app, type BrowserWindow, dialog, type MessageBoxOptions, shell } from 'electron';
import packageJson from '../../package.json' with { type: 'json' };
import { aboutText } from './about-text.ts';
import { appFile } from '../processes/app-files.ts';

/** Says which versions run, and opens the licences. */
export async function showAbout(window: BrowserWindow | null): Promise<void> {
  const licences = licenceFiles().filter(({ path }) => existsSync(path));
  const options: MessageBoxOptions = {
    type: 'info',
    title: 'About Tutti',
    message: `Tutti ${packageJson.version}`,
    detail: aboutText(packageJson.description, process.versions),
    buttons: ['Close', ...licences.map(({ label }) => label)],
    defaultId: 0,
    cancelId: 0,
  };
  const { response } = await (window === null
    ? dialog.showMessageBox(options)
    : dialog.showMessageBox(window, options));
  const chosen = licences.at(response - 1);
  if (response === 0 || chosen === undefined) return;
  const problem = await shell.openPath(chosen.path);
  if (problem !== '') throw new Error(`${chosen.path} could not be opened: ${problem}. Open it yourself.`);
}

/**
 * Electron's lies beside its binary; in a package for macOS, which has no such file, it is in the archive of the
 * download.
 */
function licenceFiles(): LicenceFile[] {
  return [
    { label: 'Licences of Packages', path: appFile('docs/licences.md') },
    { label: 'Licences of Chromium', path: join(dirname(app.getPath('exe')), 'LICENSES.chromium.html') },
  ];
}

interface LicenceFile {
  /** The label of the button that opens it. */
  label: string;
  path: string;
}
