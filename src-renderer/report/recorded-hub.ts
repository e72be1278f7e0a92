import { createBirpc } from 'birpc';
import type { ReportData } from '../../core/protocol/pages/run-data.ts';
import type { HubApi } from '../../core/protocol/pages/hub-methods.ts';
import { decodeRpc, encodeRpc, type PageApi } from '../../core/protocol/pages/rpc.ts';
import type { Transport } from '../client/transport.ts';

/**
 * Answers the calls of components from a report's data, as the hub would. A report has nothing that can be changed, so
 * every other call is refused.
 */
export function recordedTransport(data: ReportData): Transport {
  return {
    connect(listener) {
      let deliver: (bytes: Uint8Array) => void = () => undefined;
      createBirpc<PageApi, HubApi>(recordedHub(data) as HubApi, {
        post: (bytes: Uint8Array) => listener.received(bytes),
        on: (receive) => void (deliver = receive),
        serialize: encodeRpc,
        deserialize: (bytes: Uint8Array) => decodeRpc(bytes),
        timeout: -1,
      });
      queueMicrotask(() => listener.opened());
      return { send: (bytes) => deliver(bytes), close: () => undefined };
    },
  };
}

function recordedHub(data: ReportData): Partial<HubApi> {
  const { view, series, deviceLoads, predictions, postprocessing, relatives } = data;
  return {
    session: async () => ({ role: 'watcher', canInvite: false, program: 'tutti' }),
    watch: async () => undefined,
    unwatch: async () => undefined,
    run: async () => view,
    // Complete as far as the page knows: there is nothing to read again when it zooms.
    series: async () => ({ series: series.map((one) => ({ ...one, total: one.step.length })) }),
    deviceLoads: async () => deviceLoads,
    predictionNames: async () => predictions.map(({ split, name, epoch }) => ({ split, name, epoch })),
    predictions: async (_id, { split, name }) =>
      predictions.find((one) => one.split === split && one.name === name)?.data ?? null,
    postprocessing: async () => postprocessing,
    runs: async ({ ids }) => {
      const rows = ids === undefined ? relatives.forks : relatives.origin;
      return { rows, total: rows.length };
    },
  };
}
