import { KeyPress } from '../../processes/terminal.ts';
import { onLauncherLost } from '../../processes/launcher-guard.ts';
import { type RunningInference, serveEnsemble } from '../../serving/serve-ensemble.ts';
import { ensembleFolder } from '../arguments.ts';
import { exitCodes } from '../errors.ts';

export interface ServeArguments {
  set?: string;
  host: string;
  port: number;
  token?: string;
  maxBatch: number;
  maxDelayMs: number;
  maxQueue: number;
  maxSamples: number;
  maxBodyMib: number;
  inputsTimeoutS: number;
  json?: boolean;
}

/** `tutti serve <run>`. Serves until a signal stops it. @returns the exit code */
export async function serve(
  run: string,
  { json = false, maxBodyMib, inputsTimeoutS, ...options }: ServeArguments,
): Promise<number> {
  const folder = await ensembleFolder(run);
  const onNotice = (text: string): void => console.error(text);
  const limits = { maxBodyBytes: maxBodyMib * 2 ** 20, inputsTimeoutMs: 1000 * inputsTimeoutS };
  const server = await serveEnsemble({ ...options, ...limits, folder, onNotice });
  const stopped = stopBySignals(server);
  print(server, json);
  const lost = await Promise.race([server.lost, stopped]);
  if (lost === null) return exitCodes.finished;
  await server.close();
  throw new Error(`The server ended: ${lost.message}`);
}

/** Resolves once the server has answered what it had accepted. A second Ctrl-C ends it at once. */
function stopBySignals(server: RunningInference): Promise<null> {
  const ended = Promise.withResolvers<null>();
  const press = new KeyPress();
  let isStopping = false;
  const stop = (): void => {
    if (isStopping) return server.abort();
    isStopping = true;
    console.error('Stopping: requests that were accepted are answered. Press Ctrl-C again to end at once.');
    ended.resolve(server.close().then(() => null));
  };
  process.on('SIGINT', () => press.isNew() && stop());
  process.on('SIGTERM', () => !isStopping && stop());
  onLauncherLost(() => !isStopping && stop());
  return ended.promise;
}

function print({ name, set, members, url, token }: RunningInference, json: boolean): void {
  if (json) {
    process.stdout.write(`${JSON.stringify({ name, set, members, url, token })}\n`);
    return;
  }
  process.stdout.write(`Serving ${name} (${set}, ${members} members): ${url}\n`);
  if (token !== null) process.stdout.write(`Requests need the header "Authorization: Bearer ${token}".\n`);
}
