import { downloadScreen } from './fetch-screen.ts';
import { screens } from './screens.ts';

/**
 * Downloads a published screen to `<folder>/molecules` and checks it.
 * `node examples/04_hts_hit_finding/download.ts cav3 ~/data`, and then `TUTTI_DATA=~/data npx tutti discover ...`
 */

const [name = '', folder = process.env.TUTTI_DATA ?? ''] = process.argv.slice(2);
const screen = Object.entries(screens).find(([key]) => key === name)?.[1];
if (screen === undefined || folder === '') {
  throw new Error(`Name a screen (${Object.keys(screens).join(' or ')}) and a folder for it.`);
}
try {
  console.log(`${screen.name}: ${screen.molecules} molecules in ${await downloadScreen(screen, folder)}`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
