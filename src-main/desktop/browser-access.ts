import { shell } from 'electron';
import type { PageRole } from '../../core/protocol/pages/rpc.ts';
import { MadeOnce } from '../../core/text/made-once.ts';
import type { PageLinks } from '../rpc/hub-service.ts';
import type { PageWire } from '../rpc/connection.ts';
import { ExportLinks } from '../server/export-links.ts';
import { type RedirectFile, writeRedirect } from '../start/app-window.ts';

/** A browser that is not installed never opens the link. */
const longestMs = 60_000;

/** What is used of the server of `tutti dashboard --browser`. */
interface LocalServer {
  newLink: () => string;
  newWatchLink: () => string;
  endWatchers: () => void;
  close(): Promise<void>;
}

interface LocalServerOptions {
  port: number;
  pageFolder: string;
  exportFolder: string;
  exportLinks: ExportLinks;
  connect: (wire: PageWire, role: PageRole) => () => void;
  onError: (error: unknown) => void;
  onNotice: (text: string) => void;
}

export type StartServer = (options: LocalServerOptions) => Promise<LocalServer>;

export interface BrowserParts {
  startServer: StartServer;
  /** The folder of the built page. */
  pageFolder: string;
  /** The folder of exports, each one file. */
  exportFolder: string;
  /**
   * Serves one page until the returned function is called.
   * @param exportLink the link at which it downloads an export
   */
  connect: (wire: PageWire, role: PageRole, exportLink: (fileName: string) => string) => () => void;
  onError: (error: unknown) => void;
}

/**
 * Serves the app's pages to browsers of this machine too, from the first link on: with the server of
 * `tutti dashboard --browser`, on 127.0.0.1 and any free port. Its sessions end with the app.
 */
export class BrowserAccess implements PageLinks {
  readonly #parts: BrowserParts;
  readonly #server = new MadeOnce<LocalServer>();
  #running: LocalServer | null = null;
  readonly #redirects = new Set<RedirectFile>();

  constructor(parts: BrowserParts) {
    this.#parts = parts;
  }

  /** A link that works once. */
  async create(role: PageRole): Promise<string> {
    const server = await this.#start();
    return role === 'owner' ? server.newLink() : server.newWatchLink();
  }

  endWatchers(): void {
    this.#running?.endWatchers();
  }

  /**
   * Opens a page of the app in the user's browser, with a link that works once. The browser gets a file that leads to
   * the link, because other users see its command line.
   * @param address the part of the page's address after `#`
   */
  async open(address: string): Promise<void> {
    const link = await this.create('owner');
    const redirect = await writeRedirect(address === '' ? link : `${link}#${address}`);
    this.#redirects.add(redirect);
    setTimeout(() => this.#remove(redirect).catch(this.#parts.onError), longestMs).unref();
    await shell.openExternal(redirect.address);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#redirects].map((redirect) => this.#remove(redirect)));
    await (await this.#server.made)?.close();
  }

  #start(): Promise<LocalServer> {
    return this.#server.get(() => this.#listen());
  }

  async #listen(): Promise<LocalServer> {
    const { startServer, pageFolder, exportFolder, connect, onError } = this.#parts;
    const exportLinks = new ExportLinks();
    const exportLink = (fileName: string): string => exportLinks.link(fileName);
    this.#running = await startServer({
      port: 0,
      pageFolder,
      exportFolder,
      exportLinks,
      connect: (wire, role) => connect(wire, role, exportLink),
      onError,
      onNotice: (text) => console.error(text),
    });
    return this.#running;
  }

  async #remove(redirect: RedirectFile): Promise<void> {
    this.#redirects.delete(redirect);
    await redirect.remove();
  }
}
