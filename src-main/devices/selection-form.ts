import type { Device, DeviceSelection } from '../../core/protocol/machine/devices.ts';

export type DeviceKind = Device['kind'];

const pools = ['auto', 'gpu', 'cuda', 'webgpu', 'rocm', 'cpu', 'webgpu-cpu'] as const;
export type Pool = (typeof pools)[number];

/** The meaning of a selection, independent of its form. */
export type DeviceRequest =
  | { form: 'all'; pool: Pool }
  | { form: 'idle' }
  | { form: 'count'; count: number }
  | { form: 'indices'; items: { pool: Pool; index: number }[] };

const forms =
  'a count (2), indices (0,2 or 2,), all or -1, auto, idle, cpu, gpu, cuda, webgpu, rocm, webgpu-cpu, or a ' +
  'kind with indices (cpu:0,1)';

/**
 * Parses a selection like PyTorch Lightning's `devices` (`lightning.fabric.utilities.device_parser`): 2 and "2" are a
 * count, [2] and "2," an index, -1 means all. Kinds, kinds with indices, and `idle` are additions.
 *
 * @throws Error that lists all forms if it has none of them
 */
export function parseSelection(selection: DeviceSelection): DeviceRequest {
  if (Array.isArray(selection)) return indices(selection, selection.map(String));
  const text = String(selection).trim().toLowerCase();
  const pool = text === 'all' || text === '-1' ? 'auto' : findPool(text);
  if (pool !== undefined) return { form: 'all', pool };
  if (text === 'idle') return { form: 'idle' };
  if (/[,:]/.test(text)) return indices(selection, text.split(','));
  if (!/^\d+$/.test(text)) throw selectionError(selection, `this does not select devices. Use ${forms}.`);
  if (Number(text) === 0)
    throw selectionError(selection, 'a run needs at least one device. Give a count of 1 or more.');
  return { form: 'count', count: Number(text) };
}

/** A kind also applies to the items after it: `cpu:0,1` is `cpu:0,cpu:1`. Empty items are dropped, as in "2,". */
function indices(selection: DeviceSelection, items: string[]): DeviceRequest {
  let pool: Pool = 'auto';
  const named = items
    .filter((item) => item !== '')
    .map((item) => {
      const [, kind, index] = /^\s*(?:([a-z-]+)\s*:)?\s*(\d+)\s*$/.exec(item) ?? [];
      const itemPool = kind === undefined ? pool : findPool(kind);
      if (index === undefined || itemPool === undefined) {
        throw selectionError(selection, `"${item.trim()}" names no device. Give ${forms}.`);
      }
      pool = itemPool;
      return { pool, index: Number(index) };
    });
  if (named.length === 0) throw selectionError(selection, `it names no device. Give ${forms}.`);
  return { form: 'indices', items: named };
}

function findPool(name: string): Pool | undefined {
  return pools.find((pool) => pool === name);
}

export function selectionError(selection: DeviceSelection, message: string): Error {
  return new Error(`devices ${Array.isArray(selection) ? `[${selection.join(', ')}]` : `"${selection}"`}: ${message}`);
}
