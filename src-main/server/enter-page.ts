import type { PageRole } from '../../core/protocol/pages/rpc.ts';
import { pageKeyName } from '../../core/protocol/pages/window.ts';
import { askScript, askScriptPath, doorStyle, doorStylePath } from './no-session-page.ts';

const enterScriptPath = '/enter.js';

/**
 * The answer to a link: stores the session's key in the browser's storage, which is separate for each port, and opens
 * the page. A redirect would not do: where a link was opened from a file or another site, browsers send no
 * `SameSite=Strict` cookie with its redirects.
 */
export function enterPage(key: string, role: PageRole): string {
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
export const doorFiles: Partial<Record<string, DoorFile>> = {
  [enterScriptPath]: { type: script, content: enterScript },
  [askScriptPath]: { type: script, content: askScript },
  [doorStylePath]: { type: 'text/css; charset=utf-8', content: doorStyle },
};
