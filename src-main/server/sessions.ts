import type { PageRole } from '../../core/protocol/pages/rpc.ts';
import { isSameSecret, randomSecret } from '../../core/node/secrets.ts';

/** A browser that opened a link. */
export interface Session {
  readonly role: PageRole;
  /** The value of its cookie, which opens the built page and nothing else. Browsers send it to every port of the host. */
  readonly cookie: string;
  /** What the page presents beside the cookie when it connects to the hub. It is stored for this origin alone, port included. */
  readonly key: string;
}

interface Token {
  readonly role: PageRole;
  readonly text: string;
}

/** Unopened links and sessions of watchers that are kept. With more of them, the oldest end. */
const maximumWatchers = 100;

/** Exchanges the tokens of links for sessions. */
export class Sessions {
  #sessions: Session[] = [];
  #tokens: Token[] = [];

  /** A token that {@link enter} accepts once. */
  newToken(role: PageRole): string {
    const token = { role, text: randomSecret() };
    this.#tokens = limitWatchers([...this.#tokens, token]);
    return token.text;
  }

  /** Starts a session for a token, once; null for any other text. An owner who opens a link for watchers stays the owner. */
  enter(given: string, current: Session | null): Session | null {
    const token = this.#tokens.find(({ text }) => isSameSecret(given, text));
    if (token?.role === 'watcher' && current?.role === 'owner') return null;
    if (token === undefined) return null;
    this.#tokens = this.#tokens.filter((one) => one !== token);
    const session = { role: token.role, cookie: randomSecret(), key: randomSecret() };
    this.#sessions = limitWatchers([...this.#sessions, session]);
    return session;
  }

  withCookie(given: string): Session | null {
    return this.#sessions.find(({ cookie }) => isSameSecret(given, cookie)) ?? null;
  }

  /** Ends the sessions of watchers and makes their unopened links void. */
  endWatchers(): void {
    this.#sessions = this.#sessions.filter(({ role }) => role !== 'watcher');
    this.#tokens = this.#tokens.filter(({ role }) => role !== 'watcher');
  }
}

function limitWatchers<T extends { role: PageRole }>(all: readonly T[]): T[] {
  const watchers = all.filter(({ role }) => role === 'watcher');
  const ended = watchers.slice(0, Math.max(0, watchers.length - maximumWatchers));
  return all.filter((one) => !ended.includes(one));
}
