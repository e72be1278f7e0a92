import { useEventListener } from '@vueuse/core';
import { KeySequences } from './shortcuts.ts';

/**
 * Calls an action when its keys are pressed, while the component lives: `{ 'g p': toProjects, 'mod+k': openPalette }`.
 * Single keys do nothing while the user types into a field or a dialog is open.
 */
export function useShortcuts(actions: Readonly<Record<string, () => void>>): void {
  const sequences = new KeySequences(Object.keys(actions));

  useEventListener(window, 'keydown', (event) => {
    if (event.defaultPrevented || (hasOwnUse(event) && !event.ctrlKey && !event.metaKey)) return;
    const keys = sequences.press(event, event.timeStamp);
    if (keys === null) return;
    event.preventDefault();
    actions[keys]();
  });
}

/**
 * Whether the element with the focus uses the key itself: fields, lists and dialogs use all; space also presses
 * buttons.
 */
function hasOwnUse({ target, key }: KeyboardEvent): boolean {
  const places =
    'input:not([type=checkbox]):not([type=radio]), textarea, select, [role=dialog], [role=menu], [contenteditable]';
  const pressed = key === ' ' ? ', button, a, summary, input' : '';
  return target instanceof Element && target.closest(places + pressed) !== null;
}
