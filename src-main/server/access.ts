import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** Why a request is refused. */
export interface Refusal {
  status: 401 | 403 | 404 | 405;
  reason: string;
}

/**
 * Decides which requests the server answers. Other programs and web pages on this machine reach the port too, so a request needs the
 * session's cookie. The one-time token of the printed link is exchanged for it.
 */
export class Access {
  readonly #hosts: readonly string[];
  readonly #cookieName: string;
  readonly #session = randomSecret();
  #token: string | null = randomSecret();
  /** The address to open. It works once. */
  readonly link: string;

  constructor(port: number) {
    // With `ssh -L` the browser requests `localhost`.
    this.#hosts = [`127.0.0.1:${port}`, `localhost:${port}`];
    // Cookies are shared by all ports of a host: the name keeps two servers apart.
    this.#cookieName = `tutti-${port}`;
    this.link = `http://${this.#hosts[0]}/?token=${this.#token}`;
  }

  /** The `Set-Cookie` header for the right token, once; null for any other. */
  exchange(token: string): string | null {
    if (this.#token === null || !isSame(token, this.#token)) return null;
    this.#token = null;
    return `${this.#cookieName}=${this.#session}; HttpOnly; SameSite=Strict; Path=/`;
  }

  /**
   * Refuses a request because of its origin, whether or not it has a session. A foreign Host means that the name of another site points
   * here (DNS rebinding); a foreign Origin means that a page of another site sent it.
   */
  refuseOrigin({ method, headers }: IncomingMessage): Refusal | null {
    const { host = '', origin } = headers;
    if (!this.#hosts.includes(host)) return { status: 403, reason: `Host "${host}" is not this server.` };
    if (origin !== undefined && origin !== `http://${host}`) {
      return { status: 403, reason: `Requests from ${origin} are not answered.` };
    }
    if (method !== 'GET') return { status: 405, reason: `${method} is not answered, only GET.` };
    return null;
  }

  refuseStranger({ headers }: IncomingMessage): Refusal | null {
    const cookies = (headers.cookie ?? '').split(';').map((cookie) => cookie.trim());
    const own = cookies.find((cookie) => cookie.startsWith(`${this.#cookieName}=`));
    if (own !== undefined && isSame(own.slice(this.#cookieName.length + 1), this.#session)) return null;
    return {
      status: 401,
      reason: 'Open the link that Tutti printed when it started. A link works once: start Tutti again for a new one.',
    };
  }
}

function randomSecret(): string {
  return randomBytes(32).toString('base64url');
}

function isSame(given: string, secret: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(secret)];
  return a.length === b.length && timingSafeEqual(a, b);
}
