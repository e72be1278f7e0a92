import type { Route } from '@playwright/test';
import type { WebContents } from './web-contents.ts';

type Respond = (request: Request) => Promise<Response>;
type Decide = (contents: unknown, permission: string, callback: (isGranted: boolean) => void) => void;
type Headers = Record<string, string>;
type TakeHeaders = (
  details: { responseHeaders: Headers },
  decide: (changed: { responseHeaders: Headers }) => void,
) => void;

/** Chromium does not know the app's scheme. It sees each of the scheme's hosts as a host of this machine. */
export const httpAddress = (url: string): string => url.replace(/^(\w+):\/\/(\w+)\//, 'http://$2.$1.localhost/');
const ownAddress = (url: string): string => url.replace(/^http:\/\/(\w+)\.(\w+)\.localhost\//, '$2://$1/');

/** State that the windows share: responses of the app's scheme, headers, permissions. */
export class Session {
  readonly #schemes = new Map<string, Respond>();
  #request: Decide = (_contents, _permission, callback) => callback(true);
  #check: (contents: unknown, permission: string) => boolean = () => true;
  #takeHeaders: TakeHeaders = (details, decide) => decide(details);

  readonly protocol = { handle: (scheme: string, respond: Respond) => this.#schemes.set(scheme, respond) };
  readonly webRequest = { onHeadersReceived: (take: TakeHeaders) => (this.#takeHeaders = take) };
  setPermissionRequestHandler = (handler: Decide) => (this.#request = handler);
  setPermissionCheckHandler = (handler: (contents: unknown, permission: string) => boolean) => (this.#check = handler);
  setDevicePermissionHandler(): void {}

  /** Whether both handlers allow a permission. */
  async allows(permission: string): Promise<boolean> {
    const isGranted = new Promise<boolean>((resolve) => this.#request(null, permission, resolve));
    return (await isGranted) && this.#check(null, permission);
  }

  /** Answers a page's request unless the app forbids it. */
  async answer(contents: WebContents, route: Route): Promise<void> {
    if (!contents.allowsNavigation(route)) return route.abort('aborted');
    const request = route.request();
    const url = ownAddress(request.url());
    const respond = this.#schemes.get(url.split(':')[0]);
    if (respond === undefined) return route.continue();
    const response = await respond(new Request(url, { method: request.method() }));
    const headers = await new Promise<Headers>((resolve) =>
      this.#takeHeaders({ responseHeaders: Object.fromEntries(response.headers) }, ({ responseHeaders }) =>
        resolve(responseHeaders),
      ),
    );
    await route.fulfill({ status: response.status, headers, body: Buffer.from(await response.arrayBuffer()) });
  }
}
