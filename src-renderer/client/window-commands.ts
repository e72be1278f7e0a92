import { onScopeDispose } from 'vue';
import type { WindowBridge, WindowCommand } from '../../core/protocol/pages/window.ts';

type Name = WindowCommand['name'];
type Actions = { [N in Name]?: (command: Extract<WindowCommand, { name: N }>) => void };

/** What can be done now, the latest component's actions last. */
const heard: Actions[] = [];

/** Takes commands of the desktop app (its menu, mostly) while the component lives. */
export function useWindowCommands(actions: Actions): void {
  heard.push(actions);
  onScopeDispose(() => void heard.splice(heard.indexOf(actions), 1));
}

/** Hands the desktop app's commands to the components that take them. @param tell told what to do where none does */
export function hearWindow(bridge: WindowBridge<File>, tell: (hint: string) => void): void {
  bridge.onCommand((command) => {
    const action = heard.findLast((actions) => actions[command.name] !== undefined)?.[command.name];
    if (action === undefined) tell('This is about one run: open its page first.');
    // Each name's action takes the command of that name, which the compiler cannot follow through the union.
    else (action as (command: WindowCommand) => void)(command);
  });
}
