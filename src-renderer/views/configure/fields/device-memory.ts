import type { Device } from '../../../../core/protocol/machine/devices.ts';
import { formatBytes, unknownText } from '../../../../core/text/numbers.ts';

/** A device's memory in words and as a bar. */
export interface MemoryText {
  /** `6 GiB free of 8 GiB`, as far as the device says so. */
  text: string;
  /** For a bar, 0 to 1; null where it is not known. */
  usedShare: number | null;
  /** Why something is not known; undefined where all is. */
  why: string | undefined;
}

/**
 * What a plan needs of a device's memory, in words and as a share of the device's.
 * @param leastRankBytes of each rank; null where it is not known
 */
export function describeNeed(
  { memoryUsedBytes, memoryTotalBytes }: Pick<Device, 'memoryUsedBytes' | 'memoryTotalBytes'>,
  ranks: number,
  leastRankBytes: number | null,
): { text: string; share: number; isTooMuch: boolean } | null {
  if (leastRankBytes === null) return null;
  const bytes = ranks * leastRankBytes;
  const text = `needs at least ${formatBytes(bytes)}`;
  if (memoryTotalBytes === null) return { text, share: 0, isTooMuch: false };
  return { text, share: bytes / memoryTotalBytes, isTooMuch: bytes > memoryTotalBytes - (memoryUsedBytes ?? 0) };
}

/** Cores have no memory for themselves, and not every driver says how much of a device's is in use. */
export function describeMemory({
  memoryUsedBytes,
  memoryTotalBytes,
}: Pick<Device, 'memoryUsedBytes' | 'memoryTotalBytes'>): MemoryText {
  if (memoryTotalBytes === null) {
    return { text: unknownText, usedShare: null, why: "it shares the machine's memory" };
  }
  const total = formatBytes(memoryTotalBytes);
  if (memoryUsedBytes === null) {
    return { text: `${unknownText} of ${total}`, usedShare: null, why: 'its driver does not say how much is in use' };
  }
  const free = formatBytes(Math.max(0, memoryTotalBytes - memoryUsedBytes));
  return { text: `${free} free of ${total}`, usedShare: memoryUsedBytes / memoryTotalBytes, why: undefined };
}
