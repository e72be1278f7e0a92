import type { PageWire } from '../../rpc/connection.ts';

/** Serves one page until the returned function is called. */
export type Connect = (wire: PageWire) => () => void;

/**
 * Connects pages to a hub that still opens: their calls wait for it, so that a page can load meanwhile. If it does not
 * open, the app says so and ends.
 */
export function connectWhenOpen(opening: Promise<Connect>): Connect {
  return (wire) => {
    const waiting: Uint8Array[] = [];
    let hasLeft = false;
    let disconnect = (): void => {
      hasLeft = true;
    };
    wire.onMessage((bytes) => void waiting.push(bytes));
    const begin = (connect: Connect): void => {
      if (hasLeft) return;
      disconnect = connect({
        ...wire,
        onMessage: (receive) => {
          wire.onMessage(receive);
          for (const bytes of waiting.splice(0)) receive(bytes);
        },
      });
    };
    opening.then(begin, () => undefined);
    return () => disconnect();
  };
}
