import { randomBytes } from 'node:crypto';
import { TimeLimit } from '../../core/node/time-limit.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { ensembleSource } from '../predictions/ensemble-source.ts';
import { inAddress, isLoopback, namesLoopback } from '../server/address.ts';
import { listen } from '../server/http-server.ts';
import { Batcher, type BatchLimits } from './batcher.ts';
import { createInferenceServer } from './inference-server.ts';
import { startModelProcess } from './model-process.ts';
import { type InputsLimit, ServedModel } from './served-model.ts';

/** Kubernetes kills what has not ended 30 s after its SIGTERM. */
const stopLimitMs = 20_000;

const portRemedy = 'Choose another with --port, or omit it to use any free port.';

export interface ServeOptions extends BatchLimits, InputsLimit {
  /** A run's folder, or one with an exported ensemble. */
  folder: string;
  /** The checkpoints' name; by default the usual ones. */
  set?: string | undefined;
  host: string;
  /** 0: any free port. */
  port: number;
  /** Requests must bring it; by default one is made where other machines reach the server. */
  token?: string | undefined;
  maxBodyBytes: number;
  /** Samples of a request. */
  maxSamples: number;
  /** Called with what the user of the terminal should know. */
  onNotice: (text: string) => void;
}

export interface RunningInference {
  name: string;
  set: string;
  members: number;
  /** The address of the model. */
  url: string;
  /** Null where none is needed. */
  token: string | null;
  /** Resolves with the reason if the models are lost. */
  lost: Promise<Error>;
  /** Answers the requests that were accepted, for at most 20 s, and ends. */
  close(): Promise<void>;
  /** Ends at once: requests under way fail. */
  abort(): void;
}

/**
 * Serves the predictions of an ensemble by the Open Inference Protocol (version 2), from a separate process with the
 * models.
 * @throws Error if the ensemble cannot be opened, or the port is taken
 */
export async function serveEnsemble(options: ServeOptions): Promise<RunningInference> {
  const { folder, set, host, port, maxBodyBytes, maxSamples, onNotice } = options;
  const source = await ensembleSource(folder, set);
  const model = new ServedModel(() => startModelProcess(source), source.task, onNotice, options);
  try {
    const ensemble = await model.opened;
    for (const warning of [...ensemble.cautions, ...ensemble.warnings]) onNotice(`warning: ${warning}`);
    const token = options.token ?? (isLoopback(host) ? null : randomBytes(24).toString('base64url'));
    const batcher = new Batcher((request) => model.predict(request), options);
    const server = createInferenceServer({
      ensemble,
      version: packageJson.version,
      batcher,
      isReady: () => model.isReady,
      token,
      isOwnHost: (header) => !isLoopback(host) || namesLoopback(header),
      maxBodyBytes,
      maxSamples,
      onError: (error) => onNotice(`error: ${String(error)}`),
    });
    const ownPort = await listen(server, port, host, portRemedy);
    const origin = `http://${inAddress(host === '0.0.0.0' ? '127.0.0.1' : host)}:${ownPort}`;
    const { name, members } = ensemble;
    const close = async (): Promise<void> => {
      batcher.hurry();
      const limit = new TimeLimit(stopLimitMs, () => {
        onNotice(`Some requests did not end within ${stopLimitMs / 1000} s. Their connections are closed.`);
        server.closeAllConnections();
      });
      await new Promise<void>((resolve) => server.close(() => resolve()));
      limit.stop();
      model.close();
    };
    const url = `${origin}/v2/models/${encodeURIComponent(name)}`;
    return { name, set: ensemble.set, members, url, token, lost: model.lost, close, abort: () => model.close() };
  } catch (error) {
    model.close();
    throw error;
  }
}
