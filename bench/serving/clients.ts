import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { buffer, text } from 'node:stream/consumers';

/**
 * Clients that ask a server for predictions, each one after the other on a connection of its own:
 * `<url> <clients> <milliseconds>`, and the headers as JSON; the body comes by the standard input. Prints the
 * milliseconds of each request as JSON.
 */

const [url, clients, durationMs, headers] = process.argv.slice(2);
const body = await buffer(process.stdin);
const agent = new Agent({ keepAlive: true, maxSockets: Number(clients) });

async function ask(): Promise<number> {
  const startMs = performance.now();
  const asked = request(url, { method: 'POST', agent, headers: JSON.parse(headers) as Record<string, string> });
  asked.end(body);
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(`${url} answered ${response.statusCode}: ${await text(response)}`);
  await buffer(response);
  return performance.now() - startMs;
}

const endMs = performance.now() + Number(durationMs);
const latenciesMs: number[] = [];
async function client(): Promise<void> {
  while (performance.now() < endMs) latenciesMs.push(await ask());
}
const startMs = performance.now();
await Promise.all(Array.from({ length: Number(clients) }, client));
const elapsedMs = performance.now() - startMs;
agent.destroy();
console.log(JSON.stringify({ elapsedMs, latenciesMs }));
