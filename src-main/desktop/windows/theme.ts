import { type BrowserWindow, nativeTheme } from 'electron';
import { themeChannel } from '../../../core/protocol/pages/window.ts';
import { isOwnPage } from './page-messages.ts';
import { themeSchema } from './window-state.ts';

/** Menus and dialogs of the system follow the theme that the page uses. @param changed called once they do */
export function serveTheme(window: BrowserWindow, changed: () => void): void {
  window.webContents.ipc.on(themeChannel, (event, theme: unknown) => {
    if (!isOwnPage(window, event)) return;
    nativeTheme.themeSource = themeSchema.parse(theme);
    changed();
  });
}

/** The colour of a window before its page is drawn: `--canvas` of the pages. */
export function canvasColor(): string {
  return nativeTheme.shouldUseDarkColors ? '#0f1215' : '#f6f7f9';
}
