/** Where a server is reached. */
export interface ServerAddress {
  port: number;
  /** Whether it speaks TLS. */
  isSecure: boolean;
  /** The host of the links that it makes. */
  linkHost: string;
  /** Whether requests may name this host, written as in an address. */
  isOwnHost: (host: string) => boolean;
}

/** The address of a server that only this machine reaches. With `ssh -L` the browser requests `localhost`. */
export function loopbackAddress(port: number): ServerAddress {
  const hosts = ['127.0.0.1', 'localhost'];
  return { port, isSecure: false, linkHost: hosts[0], isOwnHost: (host) => hosts.includes(host) };
}

/** The origin of the links, `http://127.0.0.1:8080`. */
export function originOf({ isSecure, linkHost, port }: ServerAddress): string {
  return new URL(`${isSecure ? 'https' : 'http'}://${linkHost}:${port}`).origin;
}

/** The host in a `Host` header if it names this server with its port; null for any other. */
export function ownHost(header: string, { port, isSecure, isOwnHost }: ServerAddress): string | null {
  const match = /^([\w.-]+|\[[\da-f:]+\])(?::(\d{1,5}))?$/i.exec(header);
  if (match === null) return null;
  const [, host, given = isSecure ? '443' : '80'] = match;
  return Number(given) === port && isOwnHost(host) ? host : null;
}
