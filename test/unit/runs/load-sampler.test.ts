import { expect, it } from 'vitest';
import type { LoadSample } from '../../../core/protocol/machine/devices.ts';
import { detectDevices } from '../../../src-main/devices/detect.ts';
import { LoadSampler } from '../../../src-main/runs/recording/load-sampler.ts';

it('samples the devices immediately and repeatedly until it is stopped', async () => {
  const { devices } = await detectDevices();
  const cores = devices.filter(({ kind }) => kind === 'cpu');
  const samples: LoadSample[] = [];
  const twice = Promise.withResolvers<void>();
  const failures: string[] = [];
  const sampler = new LoadSampler(cores, {
    sampled(sample) {
      samples.push(sample);
      if (samples.length === 2) twice.resolve();
    },
    failed: (reason) => failures.push(reason),
  });
  await twice.promise;
  await sampler.stop();
  const told = samples.length;
  expect(failures).toEqual([]);
  expect(samples.map(({ loads }) => loads.map(({ device }) => device))).toEqual(
    samples.map(() => cores.map(({ id }) => id)),
  );
  expect(samples[0].loads.map(({ load }) => load)).toEqual(cores.map(() => null));
  await new Promise(setImmediate);
  expect(samples).toHaveLength(told);
});
