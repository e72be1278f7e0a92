import type { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { hostname } from 'node:os';

/** Where a server is reached. */
export interface ServerAddress {
  port: number;
  /** Whether it speaks TLS. */
  isSecure: boolean;
  /** The host of the links that it makes, written as in an address. */
  linkHost: string;
  /** Whether requests may name this host, written as in an address. */
  isOwnHost: (host: string) => boolean;
}

/** Whether only this machine reaches an address to listen on. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/**
 * Whether a `Host` header names this machine by an address that only it reaches, with any port: `ssh -L` may forward
 * another.
 */
export function namesLoopback(header: string): boolean {
  const [host = ''] = partsOfHost(header);
  return isLoopback(host.toLowerCase().replaceAll(/[[\]]/g, ''));
}

/** The address of a server that only this machine reaches. With `ssh -L` the browser requests `localhost`. */
export function loopbackAddress(port: number, host: string): ServerAddress {
  const hosts = [inAddress(host), 'localhost'];
  return { port, isSecure: false, linkHost: hosts[0], isOwnHost: (given) => hosts.includes(given) };
}

/**
 * The address of a server with a certificate. Requests may name the hosts of the certificate, so the name of another
 * site that points here is refused.
 * @param host to listen on; `0.0.0.0` and `::` name no host, so links then name the certificate's first
 * @throws Error if the certificate names no host of this machine that links could name
 */
export function certifiedAddress(port: number, host: string, certificate: X509Certificate): ServerAddress {
  const isOwnHost = (given: string): boolean => {
    const name = given.replaceAll(/[[\]]/g, '');
    return (isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name)) !== undefined;
  };
  const names = [host, ...namesOf(certificate), hostname()].filter((name) => name !== '0.0.0.0' && name !== '::');
  const linkHost = names.map(inAddress).find(isOwnHost);
  if (linkHost !== undefined) return { port, isSecure: true, linkHost, isOwnHost };
  throw new Error(
    `The certificate is for ${certificate.subjectAltName ?? certificate.subject}, and Tutti cannot tell which name ` +
      `leads to this machine: ${names.join(' and ')} is none of them. Name the machine with --host, as browsers ` +
      'will, or use a certificate for it.',
  );
}

/** The origin of the links, `http://127.0.0.1:8080`. */
export function originOf({ isSecure, linkHost, port }: ServerAddress): string {
  return new URL(`${isSecure ? 'https' : 'http'}://${linkHost}:${port}`).origin;
}

/** The host in a `Host` header if it names this server with its port; null for any other. */
export function ownHost(header: string, { port, isSecure, isOwnHost }: ServerAddress): string | null {
  const [host, given = isSecure ? '443' : '80'] = partsOfHost(header);
  if (host === undefined) return null;
  return Number(given) === port && isOwnHost(host) ? host : null;
}

/** Host and port of a `Host` header; nothing of any other text. */
function partsOfHost(header: string): (string | undefined)[] {
  return /^([\w.-]+|\[[\da-f:]+\])(?::(\d{1,5}))?$/i.exec(header)?.slice(1) ?? [];
}

/** The names that a certificate lists, without patterns such as `*.example.org`. */
function namesOf({ subjectAltName = '' }: X509Certificate): string[] {
  const listed = subjectAltName.matchAll(/(?:DNS|IP Address):([^,\s]+)/g);
  return [...listed].map(([, name]) => name).filter((name) => !name.includes('*'));
}

/** A host as it is written in an address. */
export function inAddress(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host;
}
