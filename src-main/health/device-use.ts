import { tutti } from '../../core/text/program.ts';
import type { Device } from '../../core/protocol/machine/devices.ts';
import { messageOf } from '../../core/text/errors.ts';
import { usableKinds } from '../processes/native-build.ts';

/** Whether a backend of this build computes on the device. */
export function isUsable(device: Device): boolean {
  return whyUnusable(device) === null;
}

/** Whether a device can be used; if not, the reason and the remedy. */
export function describeUse(device: Device): string {
  const reason = whyUnusable(device);
  if (reason !== null) return reason;
  return device.kind === 'webgpu-cpu' ? 'if named: it computes on the CPU' : 'yes';
}

/** Why a device cannot be used, and the remedy; null if it can. A damaged build is a reason too. */
function whyUnusable({ kind, unusable }: Device): string | null {
  if (unusable !== undefined) return `no: ${unusable}`;
  if (kind === 'cpu') return null;
  try {
    const kinds = usableKinds();
    if (kinds.includes(kind)) return null;
    if (kind === 'rocm' && kinds.includes('webgpu')) return 'as its webgpu device';
  } catch (error) {
    return `no: ${messageOf(error)}`;
  }
  return `no backend in this build: ${tutti} setup ${kind === 'cuda' ? '--gpu' : '--webgpu'}`;
}
