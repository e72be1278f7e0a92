import { protocol, type Session } from 'electron';
import { securityHeaders } from '../server/security-headers.ts';
import { readStaticFile } from '../server/static-files.ts';

/** The page has an address of its own: to a `file:` page Chromium grants what no page needs, reading other files too. */
const scheme = 'tutti';
const host = 'app';

export const pageAddress = `${scheme}://${host}/`;

/** To be called before Electron is ready. */
export function registerAppScheme(): void {
  protocol.registerSchemesAsPrivileged([
    { scheme, privileges: { standard: true, secure: true, supportFetchAPI: true } },
  ]);
}

/** Answers requests for the page's files, and nothing else, with the browser door's headers. */
export function serveAppScheme(session: Session, pageFolder: string): void {
  session.protocol.handle(scheme, async ({ method, url }) => {
    const { host: asked, pathname } = new URL(url);
    const file = method === 'GET' && asked === host ? await readStaticFile(pageFolder, pathname) : null;
    if (file === null) return new Response(null, { status: 404, headers: securityHeaders() });
    return new Response(new Uint8Array(file.content), { headers: { ...securityHeaders(), 'Content-Type': file.type } });
  });
}
