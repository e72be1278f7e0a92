import type { PageRole } from '../../core/protocol/pages/rpc.ts';
import { isSameSecret, randomSecret } from '../../core/node/secrets.ts';
import type { KeptSession, SessionFile } from './kept-sessions.ts';
import { hashOf, isHashOf } from './proof.ts';

/** A browser that opened a link. */
export type Session = Omit<KeptSession, 'role'> & { readonly role: PageRole };

/** What a browser gets for the token of a link. The server keeps only hashes of it. */
export interface Secrets {
  role: PageRole;
  /**
   * The value of its cookie, which opens the built page and nothing else. Browsers send it to every port of the host.
   */
  cookie: string;
  /** What the page proves to have when it connects to the hub. It is stored for this origin alone, port included. */
  key: string;
}

interface Token {
  readonly role: PageRole;
  readonly text: string;
}

/** Unopened links and sessions of one role that are kept. With more of them, the oldest end. */
const maximumOfRole: Record<PageRole, number> = { owner: 20, watcher: 100 };
/** How long an owner's session lasts. */
export const ownerSessionSeconds = 30 * 24 * 3600;

/** Exchanges the tokens of links for sessions. */
export class Sessions {
  readonly #file: SessionFile | null;
  #sessions: Session[];
  #tokens: Token[] = [];

  /** @param file keeps the owner's sessions for the next server; null: they end with this one */
  constructor(file: SessionFile | null) {
    this.#file = file;
    this.#sessions = file?.read() ?? [];
  }

  /** A token that {@link enter} accepts once. */
  newToken(role: PageRole): string {
    const token = { role, text: randomSecret() };
    this.#tokens = limit([...this.#tokens, token]);
    return token.text;
  }

  /**
   * Starts a session for a token, once; null for any other text. An owner who opens a link for watchers stays the
   * owner.
   */
  async enter(given: string, current: Session | null): Promise<Secrets | null> {
    const token = this.#tokens.find(({ text }) => isSameSecret(given, text));
    if (token?.role === 'watcher' && current?.role === 'owner') return null;
    if (token === undefined) return null;
    this.#tokens = this.#tokens.filter((one) => one !== token);
    const { role } = token;
    const [cookie, key] = [randomSecret(), randomSecret()];
    const hashes = { cookieHash: hashOf(cookie), keyHash: hashOf(Buffer.from(key, 'base64url')) };
    this.#sessions = limit([...this.#sessions, { role, ...hashes, sinceMs: Date.now() }]);
    if (role === 'owner') await this.#file?.write(this.#sessions.filter(isOwners));
    return { role, cookie, key };
  }

  withCookie(given: string): Session | null {
    const earliestMs = Date.now() - ownerSessionSeconds * 1000;
    const found = this.#sessions.find(({ cookieHash }) => isHashOf(cookieHash, given));
    return found !== undefined && found.sinceMs >= earliestMs ? found : null;
  }

  /** Ends the sessions of watchers and makes their unopened links void. */
  endWatchers(): void {
    this.#sessions = this.#sessions.filter(({ role }) => role !== 'watcher');
    this.#tokens = this.#tokens.filter(({ role }) => role !== 'watcher');
  }
}

function isOwners(session: Session): session is KeptSession {
  return session.role === 'owner';
}

function limit<T extends { role: PageRole }>(all: readonly T[]): T[] {
  const kept = (Object.keys(maximumOfRole) as PageRole[]).flatMap((role) =>
    all.filter((one) => one.role === role).slice(-maximumOfRole[role]),
  );
  return all.filter((one) => kept.includes(one));
}
