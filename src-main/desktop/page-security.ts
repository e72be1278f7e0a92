import { type App, protocol, type Session } from 'electron';
import { readStaticFile } from '../server/files.ts';
import { securityHeaders } from '../server/security-headers.ts';

/**
 * The page has its own scheme: Chromium grants a `file:` page rights that no page needs, such as reading other files.
 */
const scheme = 'tutti';
const host = 'app';

export const pageAddress = `${scheme}://${host}/`;

/** The only permission that a page ever gets: its copy buttons write to the clipboard. */
const allowedPermission = 'clipboard-sanitized-write';

/** Must be called before Electron is ready. */
export function registerAppScheme(): void {
  protocol.registerSchemesAsPrivileged([
    { scheme, privileges: { standard: true, secure: true, supportFetchAPI: true } },
  ]);
}

/** Answers requests for the page's files, and no others, with the same headers as the server. */
export function serveAppScheme(session: Session, pageFolder: string): void {
  session.protocol.handle(scheme, async ({ method, url }) => {
    const { host: requestedHost, pathname } = new URL(url);
    const isOwn = method === 'GET' && requestedHost === host;
    const file = isOwn ? await readStaticFile(pageFolder, pathname) : null;
    if (file === null) return new Response(null, { status: 404, headers: securityHeaders() });
    return new Response(new Uint8Array(file.content), { headers: { ...securityHeaders(), 'Content-Type': file.type } });
  });
}

/** Refuses permissions and devices, and adds the page's security policy to all that the session loads. */
export function guardSession(session: Session): void {
  session.setPermissionRequestHandler((_contents, permission, decide) => decide(permission === allowedPermission));
  session.setPermissionCheckHandler((_contents, permission) => permission === allowedPermission);
  session.setDevicePermissionHandler(() => false);
  session.webRequest.onHeadersReceived(({ url, responseHeaders }, decide) => {
    // The app's own files already have them.
    if (url.startsWith(pageAddress)) decide({});
    else decide({ responseHeaders: { ...responseHeaders, ...securityHeaders() } });
  });
}

/** Stops every page of the app from navigating elsewhere, opening a window or embedding another page. */
export function guardContents(app: App): void {
  app.on('web-contents-created', (_event, contents) => {
    contents.on('will-navigate', (event) => event.preventDefault());
    contents.on('will-attach-webview', (event) => event.preventDefault());
    contents.setWindowOpenHandler(() => ({ action: 'deny' }));
  });
}
