import type { App, Session } from 'electron';
import { securityHeaders } from '../server/security-headers.ts';

/** All that a page is ever allowed beyond its scripts: to write what its copy buttons copy. */
const allowed = 'clipboard-sanitized-write';

/** Refuses permissions and devices, and gives whatever the session loads the page's own security policy. */
export function guardSession(session: Session): void {
  session.setPermissionRequestHandler((_contents, permission, decide) => decide(permission === allowed));
  session.setPermissionCheckHandler((_contents, permission) => permission === allowed);
  session.setDevicePermissionHandler(() => false);
  session.webRequest.onHeadersReceived(({ responseHeaders }, decide) => {
    decide({ responseHeaders: { ...responseHeaders, ...securityHeaders() } });
  });
}

/** No page of the app goes to another address, opens a window or embeds another page. */
export function guardContents(app: App): void {
  app.on('web-contents-created', (_event, contents) => {
    contents.on('will-navigate', (event) => event.preventDefault());
    contents.on('will-attach-webview', (event) => event.preventDefault());
    contents.setWindowOpenHandler(() => ({ action: 'deny' }));
  });
}
