import { tutti } from '../../core/text/program.ts';
import { askLinkPath } from '../../core/protocol/pages/window.ts';

/**
 * What a browser without a session sees: why, the one way back, and a button for it. It uses nothing of the built page,
 * which needs a session.
 */

export const askScriptPath = '/ask.js';
export const doorStylePath = '/door.css';

export const noSessionPage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><title>Tutti</title><meta name="viewport" content="width=device-width">
<link rel="stylesheet" href="${doorStylePath}">
</head>
<body>
<main>
<h1>Tutti runs, but does not know this browser</h1>
<p>A link opens Tutti once, in one browser. Press the button, and open the link that appears in the terminal in which Tutti runs.</p>
<button type="button" id="ask">Show a new link in the terminal</button>
<p id="answer" role="status"></p>
<p>In another terminal, <code>${tutti} dashboard --link</code> prints a link too. No run is lost.</p>
</main>
<script src="${askScriptPath}"></script>
</body>
</html>`;

export const askScript = `const answer = document.getElementById('answer');
document.getElementById('ask').addEventListener('click', async () => {
  const response = await fetch('${askLinkPath}').catch(() => null);
  answer.textContent = response === null
    ? 'Tutti does not answer. Start it with ${tutti} dashboard, and open the link that it prints.'
    : response.ok ? 'The link is in the terminal.' : await response.text();
});
`;

export const doorStyle = `:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { margin: 0; background: light-dark(#f6f7f9, #0f1215); color: light-dark(#14181d, #e9ecef); }
main { max-width: 32rem; margin: 15vh auto; padding: 0 1.5rem; }
h1 { font-size: 1.5rem; line-height: 1.25; }
button { min-height: 40px; padding: 0 1rem; border: 0; border-radius: 6px; font: inherit; font-weight: 600; cursor: pointer;
  background: light-dark(#1d56c9, #84b0ff); color: light-dark(#ffffff, #0e1a30); }
button:focus-visible { outline: 2px solid light-dark(#1d56c9, #84b0ff); outline-offset: 2px; }
`;
