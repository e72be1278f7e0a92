import { tutti } from '../../../core/text/program.ts';

/** The address of a page that says why the window is empty. It needs no files, no scripts and no hub. @param reason of Electron, such as "oom" */
export function crashPage(reason: string): string {
  const text = [
    '<!doctype html><meta charset="utf-8"><title>Tutti</title>',
    '<body style="font: 15px system-ui; max-width: 40em; margin: 20vh auto; padding: 0 1em; color-scheme: light dark">',
    '<h1 style="font-size: 20px">The page crashed four times within a minute</h1>',
    `<p>Its process ended each time (${encodeText(reason)}). Runs continue: they do not need the page.</p>`,
    `<p>Choose View, Reload to try again. If it crashes again, start Tutti with <code>${tutti} dashboard --browser</code>, which shows the same pages in a browser.</p>`,
  ].join('\n');
  return `data:text/html;charset=utf-8,${encodeURIComponent(text)}`;
}

function encodeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
