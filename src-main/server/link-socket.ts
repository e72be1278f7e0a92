import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { tutti } from '../../core/text/program.ts';
import { writeFileAtomic } from '../../core/node/atomic-file.ts';
import { unlessMissing } from '../../core/node/file-error.ts';
import { makeFolder } from '../../core/node/make-folder.ts';
import { isSameSecret, randomSecret } from '../../core/node/secrets.ts';
import { netAddress } from '../../core/protocol/wire/local-socket.ts';
import { privateMode } from '../store/private-home.ts';

/** Where `tutti dashboard --link` reaches a server. The token is for named pipes, which other users of Windows see. */
const reachSchema = z.strictObject({ socket: z.string(), token: z.string() });

const ending = '.link.json';
const tokenHeader = 'tutti-token';
const answerMs = 5_000;

/**
 * Gives new links to commands of this user, over a socket in a private folder.
 * @param folder of this user alone; gets a file that says where the socket is
 * @returns ends it
 */
export async function serveLinks(folder: string, port: number, newLink: () => string): Promise<() => Promise<void>> {
  // mkdtemp makes a folder that only its owner may enter. Unix limits the length of a socket's path, so it is not in
  // the home.
  const place = await mkdtemp(join(tmpdir(), 'tutti-link-'));
  const reach = { socket: netAddress(join(place, 'link'), process.platform), token: randomSecret() };
  const server = createServer(({ headers }, response) => {
    const isOurs = isSameSecret(String(headers[tokenHeader] ?? ''), reach.token);
    response.writeHead(isOurs ? 200 : 403).end(isOurs ? newLink() : '');
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(reach.socket, resolve);
  });
  const file = join(folder, `${port}${ending}`);
  await makeFolder(folder, privateMode);
  await writeFileAtomic(file, JSON.stringify(reach));
  return async () => {
    await rm(file, { force: true });
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
    await rm(place, { recursive: true, force: true });
  };
}

/**
 * A new link to the server that runs for a home; to the one that started last where there are several.
 * @param port the server's; 0: any
 * @throws Error if none runs
 */
export async function askForLink(folder: string, port: number): Promise<string> {
  const names = ((await unlessMissing(readdir(folder))) ?? []).filter((name) => name.endsWith(ending));
  const files = names.filter((name) => port === 0 || name === `${port}${ending}`).map((name) => join(folder, name));
  const started = await Promise.all(files.map(async (file) => ({ file, ms: (await stat(file)).mtimeMs })));
  for (const { file } of started.toSorted((a, b) => b.ms - a.ms)) {
    const link = await askOne(file);
    if (link !== null) return link;
  }
  const which = port === 0 ? '' : ` on port ${port}`;
  throw new Error(
    `No dashboard runs${which} for this home (${folder}). Start it with \`${tutti} dashboard\`, or name ` +
      'another home with TUTTI_HOME.',
  );
}

/** @returns null if the server has ended without removing its file */
async function askOne(file: string): Promise<string | null> {
  const { socket, token } = reachSchema.parse(JSON.parse(await readFile(file, 'utf8')));
  const answer = Promise.withResolvers<string | null>();
  const asking = request({ socketPath: socket, headers: { [tokenHeader]: token }, timeout: answerMs }, (response) => {
    text(response).then((link) => answer.resolve(response.statusCode === 200 ? link : null), answer.reject);
  });
  asking.on('timeout', () => {
    asking.destroy();
    answer.reject(
      new Error(`The dashboard of ${file} did not answer within ${answerMs / 1000} s. Is it stopped (Ctrl-Z)?`),
    );
  });
  // Nobody listens: it was killed.
  asking.on('error', () => answer.resolve(null));
  asking.end();
  return answer.promise;
}
