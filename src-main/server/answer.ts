import type { IncomingMessage, ServerResponse } from 'node:http';
import type { PageRole } from '../../core/protocol/pages/rpc.ts';
import { rpcPath } from '../../core/protocol/pages/window.ts';
import { type Access, isRefusal, type Refusal } from './access.ts';
import { enterPage, enterScript, enterScriptPath } from './enter-page.ts';
import type { ExportLinks } from './export-links.ts';
import { readStaticFile, sendExport } from './files.ts';

/** What the server answers with. */
export interface Content {
  /** The folder of the built page. */
  pageFolder: string;
  /** The folder of exports, each one file. */
  exportFolder: string;
  exportLinks: ExportLinks;
  /** Called when a link was opened. */
  onEnter: () => void;
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
  const entered = access.enter(searchParams.get('token') ?? '', request);
  if (entered !== null) {
    content.onEnter();
    response.setHeader('Set-Cookie', entered.setCookie);
    return send(response, 200, 'text/html; charset=utf-8', enterPage(entered.key, entered.role));
  }
  if (pathname === enterScriptPath) return send(response, 200, 'text/javascript; charset=utf-8', enterScript);
  const session = pathname === rpcPath ? access.fullSessionOf(request) : access.sessionOf(request);
  if (isRefusal(session)) return refuse(response, session);
  // A page whose WebSocket failed asks whether it is still accepted.
  if (pathname === rpcPath) return send(response, 204, 'text/plain', '');
  await sendFile(response, target, content, session.role);
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

export function send(
  response: ServerResponse,
  status: number,
  type: string,
  content: string | Buffer,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'Content-Type': type, ...headers });
  response.end(content);
}
