import { onScopeDispose } from 'vue';
import type { WindowBridge, WindowCommand } from '../../core/protocol/pages/window.ts';
import type { Transport } from './hub-client.ts';

type Name = WindowCommand['name'];
type Actions = { [N in Name]?: (command: Extract<WindowCommand, { name: N }>) => void };

/** The actions of the mounted components, the latest last. */
const listeners: Actions[] = [];

/** Handles commands of the desktop app, mostly from its menu, while the component lives. */
export function useWindowCommands(actions: Actions): void {
  listeners.push(actions);
  onScopeDispose(() => void listeners.splice(listeners.indexOf(actions), 1));
}

/** Passes the desktop app's commands to the components that handle them. @param tell shows a hint where none does */
export function listenToWindow(bridge: WindowBridge<File>, tell: (hint: string) => void): void {
  bridge.onCommand((command) => {
    const action = listeners.findLast((actions) => actions[command.name] !== undefined)?.[command.name];
    if (action === undefined) tell('This command needs a run. Open its page first.');
    // The action was found by the command's name, which the compiler cannot follow through the union.
    else (action as (command: WindowCommand) => void)(command);
  });
}

declare global {
  interface Window {
    /** Defined only in the desktop app, by its preload script. */
    tutti?: WindowBridge<File>;
  }
}

/** Connects to the hub in Electron's main process. It lives as long as the window, so the connection is never lost. */
export function bridgeTransport(bridge: WindowBridge<File>): Transport {
  return {
    connect(listener) {
      const end = bridge.onMessage((bytes) => listener.received(bytes));
      // The caller gets its connection only when this returns.
      queueMicrotask(() => listener.opened());
      return { send: (bytes) => bridge.send(bytes), close: end };
    },
  };
}
