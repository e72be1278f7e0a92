import { type BrowserWindow, nativeTheme } from 'electron';
import { z } from 'zod';
import { themeChannel } from '../../core/protocol/pages/window.ts';
import { isOwnPage } from './page-messages.ts';

const themeSchema = z.enum(['system', 'light', 'dark']);

/** Menus and dialogs of the system follow the theme that the page uses. */
export function serveTheme(window: BrowserWindow): void {
  window.webContents.ipc.on(themeChannel, (event, theme: unknown) => {
    if (isOwnPage(window, event)) nativeTheme.themeSource = themeSchema.parse(theme);
  });
}
