import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { ServedEnsemble } from '../../core/ensemble/serving.ts';
import { isSameSecret } from '../../core/node/secrets.ts';
import { messageOf } from '../../core/text/errors.ts';
import { answerRequests, createHttpServer, send } from '../server/http-server.ts';
import { type Batcher, clientLeft } from './batcher.ts';
import { RequestError } from './given-input.ts';
import { answerBody, lengthHeader, splitBody } from './infer-body.ts';
import { readInferRequest } from './read-request.ts';

export interface InferenceOptions {
  ensemble: ServedEnsemble;
  /** The version of Tutti. */
  version: string;
  batcher: Pick<Batcher, 'predict' | 'counts'>;
  isReady: () => boolean;
  /** Requests must bring it, apart from those for health; null: none. */
  token: string | null;
  /**
   * Whether a request names this server in its header `Host`, which those of a foreign page do not: only this machine
   * reaches it, or else any name may lead to it.
   */
  isOwnHost: (header: string) => boolean;
  maxBodyBytes: number;
  /** The most samples of a request, because the outputs of many could fill the memory. */
  maxSamples: number;
  /** Called with errors of the server itself. */
  onError: (error: unknown) => void;
}

/** Longer than the minute for which load balancers keep connections: they would use one that ends just then. */
const keepAliveMs = 72_000;

interface Answer {
  status: number;
  /** Is sent as JSON unless it is bytes. */
  body: object;
  headers?: Readonly<Record<string, string>>;
}

type Route = (
  options: InferenceOptions,
  request: IncomingMessage,
  response: ServerResponse,
) => Answer | Promise<Answer>;

const model = '/v2/models/:name';
const routes: Readonly<Record<string, Route>> = {
  'GET /v2': ({ version }) => ok({ name: 'tutti', version, extensions: ['binary_tensor_data'] }),
  'GET /v2/health/live': () => ok({ live: true }),
  'GET /v2/health/ready': ({ isReady }) => ({ status: isReady() ? 200 : 503, body: { ready: isReady() } }),
  [`GET ${model}`]: ({ ensemble: { name, inputs, outputs } }) => {
    const infos = inputs.map(({ name: input, datatype, shape }) => ({ name: input, datatype, shape }));
    return ok({ name, platform: 'tutti_ensemble', inputs: infos, outputs });
  },
  [`GET ${model}/ready`]: ({ ensemble: { name }, isReady }) => {
    return { status: isReady() ? 200 : 503, body: { name, ready: isReady() } };
  },
  [`GET ${model}/stats`]: ({ batcher }) => ok(batcher.counts),
  [`POST ${model}/infer`]: infer,
};

function ok(body: object): Answer {
  return { status: 200, body };
}

/** The Open Inference Protocol (version 2) over HTTP. Errors are `{ error }`. */
export function createInferenceServer(options: InferenceOptions): Server {
  const server = createHttpServer(null);
  server.keepAliveTimeout = keepAliveMs;
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<Answer> => {
    if (!server.listening) throw new RequestError(503, 'The server stops.');
    requireEntrance(request, options);
    return routeOf(request, options)(options, request, response);
  };
  answerRequests(server, options.onError, async (request, response) => {
    const answered = answer(request, response).catch((error: unknown) => answerOfError(error, options));
    const { status, body, headers } = await answered;
    // While the server ends, answers end their connections: idle ones would hold it for seconds.
    const ending = server.listening ? null : { connection: 'close' };
    const content = Buffer.isBuffer(body) ? body : JSON.stringify(body);
    send(response, status, 'application/json; charset=utf-8', content, { ...headers, ...ending });
  });
  return server;
}

/** What answers a request. @throws RequestError if there is nothing at its address */
function routeOf({ method = '', url = '' }: IncomingMessage, { ensemble }: InferenceOptions): Route {
  // An address may begin with the server's name (RFC 9112, section 3.2.2).
  const [path] = url.replace(/^https?:\/\/[^/?]*/i, '').split('?');
  const [, name] = /^\/v2\/models\/([^/]+)/.exec(path) ?? [];
  const pattern = name === undefined ? path : path.replace(`/v2/models/${name}`, () => model);
  const key = `${method === 'HEAD' ? 'GET' : method} ${pattern}`;
  if (!Object.hasOwn(routes, key)) throw new RequestError(404, 'There is nothing here. The server begins at /v2.');
  const asked = name === undefined ? ensemble.name : decoded(name);
  if (asked === ensemble.name) return routes[key];
  throw new RequestError(404, `There is no model "${asked}": this server has "${ensemble.name}".`);
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch (error) {
    throw new RequestError(400, `The model's name ${name} is not encoded as in an address (${messageOf(error)}).`);
  }
}

async function infer(
  { ensemble, batcher, maxBodyBytes, maxSamples }: InferenceOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<Answer> {
  const { 'content-encoding': encoding = 'identity', [lengthHeader]: length } = request.headers;
  if (encoding !== 'identity') {
    throw new RequestError(415, `The body has the encoding "${encoding}": send it without compression.`);
  }
  const { json, binary } = splitBody(await readBody(request, maxBodyBytes), length?.toString());
  const read = readInferRequest(json, ensemble, binary);
  if (read.samples > maxSamples) {
    const reason = `The request has ${read.samples} samples, and at most ${maxSamples} are taken: send fewer at a time.`;
    throw new RequestError(413, reason);
  }
  const answer = await batcher.predict(read, leaving(response));
  const { bytes, headers } = answerBody(ensemble.name, read, answer, ensemble.cautions);
  return { status: 200, body: bytes, headers };
}

/** @throws RequestError if it has more bytes, or the client disconnects before its end */
async function readBody(request: IncomingMessage, maximumBytes: number): Promise<Buffer> {
  const tooLarge = new RequestError(413, `The body has more than ${maximumBytes} bytes: send fewer samples at a time.`);
  if (Number(request.headers['content-length'] ?? 0) > maximumBytes) throw tooLarge;
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    // The request stays open, so that its answer can say what was wrong.
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maximumBytes) throw tooLarge;
      chunks.push(chunk);
    }
  } catch (error) {
    if (error === tooLarge) throw error;
    throw new RequestError(clientLeft, `The client disconnected before the end of its body (${messageOf(error)}).`);
  }
  return Buffer.concat(chunks);
}

/** Aborted when the client disconnects before its answer. */
function leaving(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => response.writableFinished || controller.abort());
  return controller.signal;
}

/** @throws RequestError if the sender may not use the server */
function requireEntrance({ headers, url = '' }: IncomingMessage, { token, isOwnHost }: InferenceOptions): void {
  // Any page that a browser of this machine shows could send requests here, under a name of its own that leads to this
  // machine.
  if (!isOwnHost(headers.host ?? '')) {
    throw new RequestError(
      403,
      `The header "Host: ${headers.host ?? ''}" does not name this server, which only programs of this machine ` +
        'reach. Use 127.0.0.1 or localhost.',
    );
  }
  if (url.startsWith('/v2/health/')) return;
  if (token !== null) {
    if (isSameSecret(headers.authorization ?? '', `Bearer ${token}`)) return;
    throw new RequestError(
      401,
      'The header "Authorization: Bearer <token>" is missing or wrong. The server printed its token when it started.',
    );
  }
  if (headers.origin === undefined) return;
  throw new RequestError(403, 'Without a token the server answers programs, and no pages. Start it with --token.');
}

/** Headers that say what a client may do next. After 413, it may still send its body, which nobody reads. */
const headersOfErrors: Readonly<Record<number, Answer['headers']>> = {
  401: { 'www-authenticate': 'Bearer' },
  413: { connection: 'close' },
  503: { 'retry-after': '1' },
};

function answerOfError(error: unknown, { onError }: InferenceOptions): Answer {
  if (error instanceof RequestError) {
    const { statusCode: status, message } = error;
    return { status, body: { error: message }, headers: headersOfErrors[status] };
  }
  onError(error);
  return { status: 500, body: { error: 'The server failed; see its terminal for the reason.' } };
}
