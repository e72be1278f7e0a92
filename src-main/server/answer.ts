import type { IncomingMessage, ServerResponse } from 'node:http';
import type { PageRole } from '../../core/protocol/pages/rpc.ts';
import { askLinkPath, challengePath, pageKeyName, rpcPath } from '../../core/protocol/pages/window.ts';
import { type Access, isRefusal, type Refusal } from './access.ts';
import type { ExportLinks } from './export-links.ts';
import { readStaticFile, sendExport } from './files.ts';
import { send } from './http-server.ts';
import { askScript, askScriptPath, doorStyle, doorStylePath, noSessionPage } from './no-session-page.ts';

const enterScriptPath = '/enter.js';

/**
 * The answer to a link: stores the session's key in the browser's storage, which is separate for each port, and opens
 * the page. A redirect would not do: where a link was opened from a file or another site, browsers send no
 * `SameSite=Strict` cookie with its redirects.
 */
function enterPage(key: string, role: PageRole): string {
  const first = role === 'watcher' ? '/#/runs' : '/';
  const head =
    `<meta charset="utf-8"><title>Tutti</title><meta name="${pageKeyName}" content="${key}"><meta ` +
    `name="first" content="${first}">`;
  return `<!doctype html><html lang="en">${head}<script src="${enterScriptPath}"></script></html>`;
}

const enterScript = `localStorage.setItem('${pageKeyName}', document.querySelector('meta[name=${pageKeyName}]').content);
location.replace(location.hash.startsWith('#/') ? '/' + location.hash : document.querySelector('meta[name=first]').content);
`;

/** A file that the server gives without a session. It holds no secret. */
interface DoorFile {
  type: string;
  content: string;
}

const script = 'text/javascript; charset=utf-8';
const doorFiles: Partial<Record<string, DoorFile>> = {
  [enterScriptPath]: { type: script, content: enterScript },
  [askScriptPath]: { type: script, content: askScript },
  [doorStylePath]: { type: 'text/css; charset=utf-8', content: doorStyle },
};

/** What the server answers with. */
export interface Content {
  /** The folder of the built page. */
  pageFolder: string;
  /** The folder of exports, each one file. */
  exportFolder: string;
  exportLinks: ExportLinks;
  /** Called when a link was opened. */
  onEnter: () => void;
  /** Shows a new link where only the owner sees it. */
  showLink: () => void;
}

/** Answers a plain request. */
export async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  access: Access,
  content: Content,
): Promise<void> {
  const target = parseTarget(request.url);
  const foreign = access.refuseOrigin(request) ?? (target === null ? notAnAddress : null);
  if (foreign !== null || target === null) return refuse(response, foreign ?? notAnAddress);
  const { pathname, searchParams } = target;
  const entered = await access.enter(searchParams.get('token') ?? '', request);
  if (entered !== null) {
    content.onEnter();
    response.setHeader('Set-Cookie', entered.setCookie);
    return send(response, 200, 'text/html; charset=utf-8', enterPage(entered.key, entered.role));
  }
  const open = doorFiles[pathname];
  if (open !== undefined) return send(response, 200, open.type, open.content);
  if (pathname === askLinkPath) return askLink(request, response, content);
  const session = pathname === rpcPath ? access.fullSessionOf(request) : access.sessionOf(request);
  if (isRefusal(session)) return refuseSession(request, response, session);
  // A page whose WebSocket failed asks whether it is still accepted.
  if (pathname === rpcPath) return send(response, 204, 'text/plain', '');
  if (pathname === challengePath) return send(response, 200, 'text/plain', access.newChallenge());
  await sendFile(response, target, content, session.role);
}

/**
 * Anybody on this machine may ask, and only the terminal gets the link. Other sites may not ask: browsers say where a
 * request comes from.
 */
function askLink({ headers }: IncomingMessage, response: ServerResponse, content: Content): void {
  if (headers['sec-fetch-site'] !== 'same-origin') {
    return refuse(response, { status: 403, reason: 'Only a page of Tutti asks for a link.' });
  }
  content.showLink();
  send(response, 204, 'text/plain', '');
}

/** A browser that opens an address gets a page; a page or another program gets the reason. */
function refuseSession({ headers }: IncomingMessage, response: ServerResponse, refusal: Refusal): void {
  const isOpened = refusal.status === 401 && (headers.accept ?? '').includes('text/html');
  if (isOpened) send(response, 401, 'text/html; charset=utf-8', noSessionPage);
  else refuse(response, refusal);
}

const notAnAddress: Refusal = { status: 400, reason: 'This is not an address of a page.' };

/** The address of a request; null for anything but a path with or without a query (`*`, another scheme). */
function parseTarget(url = ''): URL | null {
  // A path that starts with two slashes would name another host if it were resolved against a base.
  return url.startsWith('/') ? URL.parse(`http://127.0.0.1${url}`) : null;
}

async function sendFile(response: ServerResponse, target: URL, content: Content, role: PageRole): Promise<void> {
  const exported = role === 'owner' ? content.exportLinks.fileOf(target) : null;
  if (exported !== null && (await sendExport(response, content.exportFolder, exported))) return;
  const file = await readStaticFile(content.pageFolder, target.pathname);
  if (file === null) return refuse(response, { status: 404, reason: 'There is no such page here.' });
  send(response, 200, file.type, file.content);
}

function refuse(response: ServerResponse, { status, reason }: Refusal): void {
  const headers: Record<string, string> = status === 429 ? { 'Retry-After': '60', Connection: 'close' } : {};
  send(response, status, 'text/plain', reason, headers);
}
