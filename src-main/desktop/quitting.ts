import { app } from 'electron';
import type { Hub } from '../hub/hub.ts';
import type { HubService } from '../rpc/hub-service.ts';
import type { DesktopApp } from './desktop-app.ts';
import { confirmQuitting } from './dialogs.ts';

export interface Ending {
  desktop: DesktopApp;
  service: HubService;
  hub: Hub;
  onError: (error: unknown) => void;
}

/**
 * Handles the end of the app. Runs continue when the windows are closed. Quitting asks before it interrupts them. However the app quits,
 * its runs end first and are recorded as interrupted.
 */
export function endWithApp(ending: Ending): void {
  const { desktop, service, onError } = ending;
  let isAllowed = false;
  let isAsking = false;
  const quit = (): void => {
    isAllowed = true;
    app.quit();
  };
  app.on('window-all-closed', () => desktop.windowsClosed().catch(onError));
  app.on('before-quit', (event) => {
    if (isAllowed || service.training.count === 0) return desktop.keepWindows();
    event.preventDefault();
    if (isAsking) return;
    isAsking = true;
    confirmQuitting(desktop.front?.browser ?? null, service.training.count)
      .then((isConfirmed) => isConfirmed && quit())
      .catch(onError)
      .finally(() => (isAsking = false));
  });
  endRunsFirst(ending);
  // The sender of a signal cannot be asked.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, quit);
}

function endRunsFirst({ desktop, service, hub, onError }: Ending): void {
  let hasEnded = false;
  app.on('will-quit', (event) => {
    if (hasEnded) return;
    event.preventDefault();
    desktop
      .close()
      .then(() => service.close())
      .then(() => hub.close())
      .catch(onError)
      .finally(() => {
        hasEnded = true;
        app.quit();
      });
  });
}
