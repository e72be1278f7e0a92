/** The tray's icon as SVG: Tutti's mark, with a ring around it that closes as training goes on. @param share from 0 to 1; null while nobody knows it */
export function trayIcon(share: number | null): string {
  const circumference = 2 * Math.PI * radius;
  const done = (share ?? 0) * circumference;
  const ring = `cx="16" cy="16" r="${radius}" fill="none" stroke-width="3.5"`;
  return [
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">',
    `<circle ${ring} stroke="#8a94a6"/>`,
    `<circle ${ring} stroke="#4d8dff" stroke-dasharray="${done.toFixed(2)} ${circumference.toFixed(2)}" transform="rotate(-90 16 16)"/>`,
    '<g fill="none" stroke="#4d8dff" stroke-linecap="round"><path d="M8 11c6 0 7 5 12 5" stroke-width="2"/>',
    '<path d="M8 21c6 0 7-5 12-5" stroke-width="2"/><path d="M8 16h12" stroke-width="2"/><path d="M19 16h5" stroke-width="3.5"/></g>',
    '</svg>',
  ].join('');
}

const radius = 14;
