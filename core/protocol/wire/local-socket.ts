import { encodeUtf8 } from '../../text/host.ts';

/** Bytes of a Unix socket's path: `sun_path` less its closing zero (Linux 108, macOS and BSD 104). */
const maximumBytes = { linux: 107, other: 103 };

/**
 * The address of the socket at `path`. On Windows it is a named pipe, whose name contains no separators.
 * @param platform Node's name of the system
 */
export function socketAddress(path: string, platform: string): string {
  if (platform === 'win32') return `tutti-${path.replace(/[\\/:]+/g, '-')}`;
  const limit = platform === 'linux' ? maximumBytes.linux : maximumBytes.other;
  const { length } = encodeUtf8(path);
  if (length > limit) {
    throw new RangeError(
      `The socket path ${path} has ${length} bytes, and this system allows ${limit}. ` +
        'Set TMPDIR to a folder with a shorter path.',
    );
  }
  return path;
}

/**
 * {@link socketAddress} as Node's `net` and `http` take it. On Windows they need the prefix that node-ipc adds itself.
 */
export function netAddress(path: string, platform: string): string {
  const address = socketAddress(path, platform);
  return platform === 'win32' ? `\\\\.\\pipe\\${address}` : address;
}
