import { hues, type Palette } from './line-style.ts';

const tokens = [
  'text',
  'text-muted',
  'border',
  'surface',
  'accent',
  'warn',
  ...Array.from({ length: hues }, (_, hue) => `rank-${hue}` as const),
] as const;

/** The current values of the theme's variables at an element. */
export function readPalette(element: Element): Palette {
  // A variable's text may be `light-dark(...)`, which a canvas does not understand. A colour set from it is resolved.
  const probe = element.ownerDocument.createElement('span');
  element.append(probe);
  const style = getComputedStyle(probe);
  const colors = tokens.map((token) => {
    probe.style.color = `var(--${token})`;
    return [token, style.color];
  });
  probe.remove();
  return Object.fromEntries(colors);
}

/** Calls back when the system's or the page's theme changes, until the returned function is called. */
export function onThemeChange(changed: () => void): () => void {
  const system = matchMedia('(prefers-color-scheme: dark)');
  const page = new MutationObserver(changed);
  system.addEventListener('change', changed);
  page.observe(document.documentElement, { attributes: true });
  return () => {
    system.removeEventListener('change', changed);
    page.disconnect();
  };
}
