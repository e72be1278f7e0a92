import type { IncomingMessage } from 'node:http';
import { tutti } from '../../core/text/program.ts';
import type { PageRole } from '../../core/protocol/pages/rpc.ts';
import { pageProofName, rpcProtocol } from '../../core/protocol/pages/window.ts';
import { originOf, ownHost, type ServerAddress } from './address.ts';
import type { KeptSession, SessionFile } from './kept-sessions.ts';
import type { WrongAttempts } from './wrong-attempts.ts';
import { isSameSecret, randomSecret } from '../../core/node/secrets.ts';
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/** Challenges that wait for their proof. With more of them, the oldest end. */
const maximumChallenges = 1_000;
const challengeMs = 60_000;

/** SHA-256 of a secret, which suffices to check it and not to present it. */
export function hashOf(secret: string | Buffer): string {
  return createHash('sha256').update(secret).digest('base64url');
}

function isHashOf(hash: string, secret: string | Buffer): boolean {
  return timingSafeEqual(Buffer.from(hashOf(secret)), Buffer.from(hash));
}

/**
 * Whether a proof shows that its sender has a session's key, which it does not reveal: proof = key XOR
 * HMAC(SHA-256(key), challenge), as in RFC 5802, section 3. Whoever receives it, such as another server that took the
 * port, learns neither the key nor a proof for another challenge.
 * @param keyHash SHA-256 of the key's 32 bytes, in base64url
 * @param proof 32 bytes in base64url
 */
export function isProofOf(keyHash: string, challenge: string, proof: string): boolean {
  const mask = createHmac('sha256', Buffer.from(keyHash, 'base64url')).update(challenge).digest();
  const given = Buffer.from(proof, 'base64url');
  if (given.length !== mask.length) return false;
  return isHashOf(keyHash, Buffer.from(mask.map((byte, index) => byte ^ given[index])));
}

/** Random texts, each for one proof. */
export class Challenges {
  readonly #endsMs = new Map<string, number>();

  create(nowMs: number = performance.now()): string {
    const [oldest] = this.#endsMs.keys();
    if (this.#endsMs.size >= maximumChallenges) this.#endsMs.delete(oldest);
    const challenge = randomSecret();
    this.#endsMs.set(challenge, nowMs + challengeMs);
    return challenge;
  }

  /** Whether the challenge was made here, not used before, and not too long ago. */
  use(challenge: string, nowMs: number = performance.now()): boolean {
    const endMs = this.#endsMs.get(challenge);
    this.#endsMs.delete(challenge);
    return endMs !== undefined && nowMs <= endMs;
  }
}

/** A browser that opened a link. */
type Session = Omit<KeptSession, 'role'> & { readonly role: PageRole };

/** What a browser gets for the token of a link. The server keeps only hashes of it. */
interface Secrets {
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
const ownerSessionSeconds = 30 * 24 * 3600;

/** Exchanges the tokens of links for sessions. */
class Sessions {
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
    this.#tokens = newestOfEachRole([...this.#tokens, token]);
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
    this.#sessions = newestOfEachRole([...this.#sessions, { role, ...hashes, sinceMs: Date.now() }]);
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

function newestOfEachRole<T extends { role: PageRole }>(all: readonly T[]): T[] {
  const kept = (Object.keys(maximumOfRole) as PageRole[]).flatMap((role) =>
    all.filter((one) => one.role === role).slice(-maximumOfRole[role]),
  );
  return all.filter((one) => kept.includes(one));
}

/** What a program without a session gets; browsers get a page that says the same. */
const noSession =
  `This browser has no session with Tutti. Open the link that Tutti printed. It works once: \`${tutti} dashboard ` +
  '--link` prints a new one.';

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
 * Decides which requests the server answers. Other programs and web pages on this machine reach the port too, so every
 * request needs a session's cookie, and a connection to the hub also a proof of the session's key. The one-time token
 * of a link is exchanged for cookie and key.
 */
export class Access {
  readonly #address: ServerAddress;
  readonly #cookieName: string;
  readonly #sessions: Sessions;
  readonly #challenges = new Challenges();
  readonly #wrongAttempts: WrongAttempts;

  constructor(address: ServerAddress, wrongAttempts: WrongAttempts, file: SessionFile | null) {
    this.#address = address;
    this.#sessions = new Sessions(file);
    // Cookies are shared by all ports of a host: the name keeps two servers apart. Browsers refuse a `__Host-` cookie
    // from plain HTTP.
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
  async enter(token: string, request: IncomingMessage): Promise<Entry | null> {
    const secrets = await this.#sessions.enter(token, this.#sessions.withCookie(this.#cookieOf(request) ?? ''));
    if (secrets === null) return null;
    const { role, key, cookie } = secrets;
    // An owner's browser may close and come back; a watcher's session ends with it.
    const age = role === 'owner' ? `; Max-Age=${ownerSessionSeconds}` : '';
    const attributes = `HttpOnly; SameSite=Strict; Path=/${this.#address.isSecure ? '; Secure' : ''}`;
    return { key, role, setCookie: `${this.#cookieName}=${cookie}${age}; ${attributes}` };
  }

  /** A text for which a page then proves that it has its key, once. */
  newChallenge(): string {
    return this.#challenges.create();
  }

  /**
   * Refuses a request because of its origin, whether or not it has a session. A foreign Host means that the name of
   * another site points here (DNS rebinding); a foreign Origin means that a page of another site sent it.
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

  /** The session of a request by cookie and a proof of its key, which a connection to the hub needs. */
  fullSessionOf(request: IncomingMessage): Session | Refusal {
    const session = this.sessionOf(request);
    if (isRefusal(session)) return session;
    const given = proofOf(request);
    if (given === null) return this.#refuse(request, false);
    const [challenge, proof = ''] = given.split('.');
    const isProven = this.#challenges.use(challenge) && isProofOf(session.keyHash, challenge, proof);
    return isProven ? session : this.#refuse(request, true);
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
    return { status: 401, reason: noSession };
  }
}

export function isRefusal(session: Session | Refusal): session is Refusal {
  return 'status' in session;
}

/**
 * Challenge and proof in the header of a plain request, or beside the subprotocol of a WebSocket, with a dot between
 * them.
 */
function proofOf({ headers }: IncomingMessage): string | null {
  const header = headers[pageProofName];
  if (typeof header === 'string') return header;
  const [protocol, proof] = (headers['sec-websocket-protocol'] ?? '').split(',').map((part) => part.trim());
  return protocol === rpcProtocol && proof !== undefined ? proof : null;
}
