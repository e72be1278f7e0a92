import { isSameSecret, randomSecret } from '../../core/node/secrets.ts';

/** A browser that opened a link. */
export interface Session {
  /** The value of its cookie, which opens the built page and nothing else. Browsers send it to every port of the host. */
  readonly cookie: string;
  /** What the page presents beside the cookie when it connects to the hub. It is stored for this origin alone, port included. */
  readonly key: string;
}

/** Exchanges the tokens of links for sessions. */
export class Sessions {
  readonly #sessions: Session[] = [];
  #tokens: string[] = [];

  /** A token that {@link enter} accepts once. */
  newToken(): string {
    const token = randomSecret();
    this.#tokens.push(token);
    return token;
  }

  /** Starts a session for a token, once; null for any other text. */
  enter(given: string): Session | null {
    const token = this.#tokens.find((one) => isSameSecret(given, one));
    if (token === undefined) return null;
    this.#tokens = this.#tokens.filter((one) => one !== token);
    const session = { cookie: randomSecret(), key: randomSecret() };
    this.#sessions.push(session);
    return session;
  }

  withCookie(given: string): Session | null {
    return this.#sessions.find(({ cookie }) => isSameSecret(given, cookie)) ?? null;
  }
}
