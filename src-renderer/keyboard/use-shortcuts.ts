import { onScopeDispose } from 'vue';
import { KeySequences } from './key-sequences.ts';

/**
 * Calls an action when its keys are pressed, while the component lives: `{ 'g p': toProjects, 'mod+k': openPalette }`.
 * Single keys are left alone while the user types into a field or a dialog is open.
 */
export function useShortcuts(actions: Readonly<Record<string, () => void>>): void {
  const sequences = new KeySequences(Object.keys(actions));

  function hear(event: KeyboardEvent): void {
    if (event.defaultPrevented || (isSpokenFor(event) && !event.ctrlKey && !event.metaKey)) return;
    const keys = sequences.press(event, event.timeStamp);
    if (keys === null) return;
    event.preventDefault();
    actions[keys]();
  }

  window.addEventListener('keydown', hear);
  onScopeDispose(() => window.removeEventListener('keydown', hear));
}

/** Whether the press belongs to a field, a list or a dialog; space also to whatever it would press. */
function isSpokenFor({ target, key }: KeyboardEvent): boolean {
  const places =
    'input:not([type=checkbox]):not([type=radio]), textarea, select, [role=dialog], [role=menu], [contenteditable]';
  const pressed = key === ' ' ? ', button, a, summary, input' : '';
  return target instanceof Element && target.closest(places + pressed) !== null;
}
