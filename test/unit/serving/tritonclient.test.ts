import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { createInferenceServer } from '../../../src-main/serving/inference-server.ts';
import { notRun } from '../../environment/reasons.ts';
import { noTritonClient, python } from '../exchange/python.ts';
import { listening } from './ask.ts';
import { answered, counts, served } from './tensors.ts';

const script = fileURLToPath(new URL('ask_server.py', import.meta.url));

it.skipIf(noTritonClient !== null)(
  `the server answers Python's tritonclient.http${notRun(noTritonClient)}`,
  async () => {
    const server = createInferenceServer({
      ensemble: served,
      version: '1.2.3',
      batcher: { predict: async ({ tensors }) => answered(tensors), counts },
      isReady: () => true,
      token: null,
      isOwnHost: () => true,
      maxBodyBytes: 10_000,
      maxSamples: 4,
      onError: (error) => expect.fail(String(error)),
    });
    const { host } = new URL(await listening(server).origin);
    const { stdout } = await promisify(execFile)(python, [script, host]);
    expect(JSON.parse(stdout)).toEqual({
      ready: [true, true, true],
      extensions: ['binary_tensor_data'],
      inputs: [{ name: 'features', datatype: 'FP32', shape: [-1, 2] }],
      usual: ['q', [[3], [7]], true],
      text: ['q', [[3], [7]], false],
      mixed: ['q', [[3], [7]], false],
      refusal: ['400', expect.stringContaining('has the shape [4, 1]; it must be [-1, 2]')],
    });
  },
);
