import { z } from 'zod';
import { runListSchema } from '../../protocol/run-list.ts';
import { runEventsPath } from '../../protocol/window.ts';
import type { RunListClient } from './client.ts';

// zod would compile its validators with `new Function`, which the page's security policy forbids.
z.config({ jitless: true });

/** Reaches the hub through the server that the page came from. The browser itself tries to come back when it is gone. */
export function serverClient(): RunListClient {
  return {
    watch(listener) {
      const events = new EventSource(runEventsPath);
      let attempts = 0;
      events.addEventListener('message', ({ data }: MessageEvent<string>) => {
        const parsed = runListSchema.safeParse(JSON.parse(data));
        if (!parsed.success) return listener.failed('Page and server are of different versions. Reload this page.');
        attempts = 0;
        listener.runs(parsed.data);
      });
      events.addEventListener('error', () => {
        attempts += 1;
        // The server answered, and refused: there is no way back for this page.
        if (events.readyState === EventSource.CLOSED) {
          listener.failed('The server does not know this page any more. Start Tutti again and open its new link.');
        } else {
          listener.disconnected(attempts);
        }
      });
      return () => events.close();
    },
  };
}
