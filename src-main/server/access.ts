import type { IncomingMessage } from 'node:http';
import type { PageRole } from '../../core/protocol/pages/rpc.ts';
import { pageKeyName, rpcProtocol } from '../../core/protocol/pages/window.ts';
import { isSameSecret } from '../../core/node/secrets.ts';
import { originOf, ownHost, type ServerAddress } from './address.ts';
import { type Session, Sessions } from './sessions.ts';
import type { WrongAttempts } from './wrong-attempts.ts';

/** Why a request is refused. */
export interface Refusal {
  status: 400 | 401 | 403 | 404 | 405 | 429;
  reason: string;
}

/** What a browser gets for the token of a link. */
export interface Entry {
  role: PageRole;
  key: string;
  setCookie: string;
}

/**
 * Decides which requests the server answers. Other programs and web pages on this machine reach the port too, so every request needs a
 * session's cookie, and a connection to the hub also the session's key. The one-time token of a link is exchanged for both.
 */
export class Access {
  readonly #address: ServerAddress;
  readonly #cookieName: string;
  readonly #sessions = new Sessions();
  readonly #wrongAttempts: WrongAttempts;

  constructor(address: ServerAddress, wrongAttempts: WrongAttempts) {
    this.#address = address;
    // Cookies are shared by all ports of a host: the name keeps two servers apart. Browsers refuse a `__Host-` cookie from plain HTTP.
    this.#cookieName = `${address.isSecure ? '__Host-' : ''}tutti-${address.port}`;
    this.#wrongAttempts = wrongAttempts;
  }

  /** A new link that opens the page. It works once. */
  newLink(role: PageRole): string {
    return `${originOf(this.#address)}/?token=${this.#sessions.newToken(role)}`;
  }

  /** Ends the sessions of watchers, and makes their unopened links void. */
  endWatchers(): void {
    this.#sessions.endWatchers();
  }

  /** Starts a session for a link's token, once; null for any other text. */
  enter(token: string, request: IncomingMessage): Entry | null {
    const session = this.#sessions.enter(token, this.#sessions.withCookie(this.#cookieOf(request) ?? ''));
    if (session === null) return null;
    const attributes = `HttpOnly; SameSite=Strict; Path=/${this.#address.isSecure ? '; Secure' : ''}`;
    return { key: session.key, role: session.role, setCookie: `${this.#cookieName}=${session.cookie}; ${attributes}` };
  }

  /**
   * Refuses a request because of its origin, whether or not it has a session. A foreign Host means that the name of another site points
   * here (DNS rebinding); a foreign Origin means that a page of another site sent it.
   */
  refuseOrigin({ method, headers }: IncomingMessage): Refusal | null {
    const { host = '', origin } = headers;
    if (ownHost(host, this.#address) === null) return { status: 403, reason: 'This Host is not the server.' };
    if (origin !== undefined && origin !== `${this.#address.isSecure ? 'https' : 'http'}://${host}`) {
      return { status: 403, reason: 'Requests from other origins are not answered.' };
    }
    if (method !== 'GET') return { status: 405, reason: 'Only GET is answered.' };
    return null;
  }

  /** The session of a request by its cookie, which suffices for the files of the page. */
  sessionOf(request: IncomingMessage): Session | Refusal {
    const given = this.#cookieOf(request);
    return (given === null ? null : this.#sessions.withCookie(given)) ?? this.#refuse(request, given !== null);
  }

  /** The session of a request by cookie and key, which a connection to the hub needs. */
  fullSessionOf(request: IncomingMessage): Session | Refusal {
    const session = this.sessionOf(request);
    if (isRefusal(session)) return session;
    const given = keyOf(request);
    return given !== null && isSameSecret(given, session.key) ? session : this.#refuse(request, given !== null);
  }

  #cookieOf({ headers }: IncomingMessage): string | null {
    const cookies = (headers.cookie ?? '').split(';').map((cookie) => cookie.trim());
    const own = cookies.find((cookie) => cookie.startsWith(`${this.#cookieName}=`));
    return own?.slice(this.#cookieName.length + 1) ?? null;
  }

  #refuse({ socket, url = '' }: IncomingMessage, isAttempt: boolean): Refusal {
    const isWrong = isAttempt || url.includes('token=');
    if (isWrong && this.#wrongAttempts.count(socket.remoteAddress ?? 'unknown')) {
      return { status: 429, reason: 'Too many wrong tokens, cookies or keys.' };
    }
    return {
      status: 401,
      reason: 'Open the link that Tutti printed when it started. A link works once: start Tutti again for a new one.',
    };
  }
}

export function isRefusal(session: Session | Refusal): session is Refusal {
  return 'status' in session;
}

/** The key in the header of a plain request, or beside the subprotocol of a WebSocket. */
function keyOf({ headers }: IncomingMessage): string | null {
  const header = headers[pageKeyName];
  if (typeof header === 'string') return header;
  const [protocol, key] = (headers['sec-websocket-protocol'] ?? '').split(',').map((part) => part.trim());
  return protocol === rpcProtocol && key !== undefined ? key : null;
}
