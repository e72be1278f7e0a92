import { hostname, networkInterfaces } from 'node:os';

/** Names and addresses by which other machines may reach this one, each once. @param known by which the launcher knows it; null: it has none */
export function hostsOfThis(known: string | null): string[] {
  const all = Object.values(networkInterfaces()).flatMap((of) => of ?? []);
  const outside = all.filter(({ internal, address }) => !internal && !address.startsWith('fe80'));
  const hosts = [...(known === null ? [] : [known]), hostname(), ...outside.map(({ address }) => address), '127.0.0.1'];
  return [...new Set(hosts)];
}
