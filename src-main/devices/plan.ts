import type { Device, Placement } from '../../protocol/devices.ts';

export type PlacementRequest = {
  /** Ensemble members (M), one rank each. */
  members: number;
  /** Selected devices (D), at least one. */
  devices: readonly Device[];
  /** `share`: all ranks at once, several to a device. `waves`: at most one rank to a device at a time. */
  placement: 'share' | 'waves';
};

/** Rank r goes to device r mod D, with `waves` in wave floor(r / D). Fewer members than devices leave devices free. */
export function planPlacement({ members, devices, placement }: PlacementRequest): Placement[] {
  if (devices.length === 0) throw new Error(`Placing ${members} members needs at least one device. Select one.`);
  return Array.from({ length: members }, (_, rank) => ({
    rank,
    wave: placement === 'waves' ? Math.floor(rank / devices.length) : 0,
    device: devices[rank % devices.length],
  }));
}

/** The plan for the terminal: one line for a device and wave, in aligned columns; waves are counted from 1. */
export function describePlan(plan: readonly Placement[]): string[] {
  const waveCount = Math.max(...plan.map((placement) => placement.wave)) + 1;
  const places = Map.groupBy(plan, ({ wave, device }) => `${wave} ${device.id}`);
  const table = [...places.values()].map((placements) => {
    const [{ wave, device }] = placements;
    const ranks = placements.map((placement) => placement.rank).join(', ');
    const columns = [device.id, device.name, `${placements.length === 1 ? 'rank' : 'ranks'} ${ranks}`];
    return waveCount === 1 ? columns : [`wave ${wave + 1} of ${waveCount}`, ...columns];
  });
  return alignColumns(table);
}

function alignColumns(table: string[][]): string[] {
  const widths = table.reduce<number[]>((so, row) => row.map((cell, i) => Math.max(cell.length, so[i] ?? 0)), []);
  return table.map((row) => row.map((cell, i) => (i < row.length - 1 ? cell.padEnd(widths[i]) : cell)).join('  '));
}
