import { createHmac } from 'node:crypto';
import { isSameSecret, randomSecret } from '../../core/node/secrets.ts';

const folderPath = '/exports/';

/**
 * Links to download exports. A download is a plain request, which carries the cookie but no key, so the link itself
 * carries a ticket that holds for this one file until the server ends.
 */
export class ExportLinks {
  readonly #secret = randomSecret();

  /** The path and query of the link to an export. */
  link(fileName: string): string {
    return `${folderPath}${fileName}?ticket=${this.#ticket(fileName)}`;
  }

  /** The file that a link leads to; null for another path or a wrong ticket. */
  fileOf({ pathname, searchParams }: URL): string | null {
    const fileName = pathname.slice(folderPath.length);
    // Exports are named by run ids. Any other name in an address is not looked up.
    if (!pathname.startsWith(folderPath) || !/^[\w-]+\.(zip|tutti|html|csv)$/.test(fileName)) return null;
    return isSameSecret(searchParams.get('ticket') ?? '', this.#ticket(fileName)) ? fileName : null;
  }

  #ticket(fileName: string): string {
    return createHmac('sha256', this.#secret).update(fileName).digest('base64url');
  }
}
