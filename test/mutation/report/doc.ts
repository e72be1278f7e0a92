import { z } from 'zod';
import { areas } from '../areas.ts';
import { countNoticed, type MutantResult, type MutationReport } from './report.ts';

/**
 * Why a surviving mutant is accepted: the change makes no difference that a user can see, or the cost of noticing it.
 */
export const reasonsSchema = z.array(z.object({ name: z.string(), mutated: z.string(), reason: z.string().min(1) }));
export type Reasons = z.infer<typeof reasonsSchema>;

/**
 * The page `docs/mutation.md`.
 *
 * @throws Error if a reason names a mutant that did not survive or has changed
 */
export function renderMutationDoc(report: MutationReport, reasons: Reasons): string {
  const survivors = report.results.filter(({ outcome }) => outcome === 'survived');
  requireSurvivors(reasons, survivors);
  const { noticed, judged } = countNoticed(report.results);
  const pieces = [
    '# Mutation test\n',
    'Generated from `test/mutation/report/report.json` and `survivors.json` by `npm run docs:mutation`.\n',
    'Each mutant is the code with one change, drawn with a seed, such as of an operator, a number 0 or 1, a condition ' +
      'or an early exit.',
    'The tests that reach the changed file run until one fails; tests that do not end in time notice it too.\n',
    `**${noticed} of ${judged} mutants are noticed (${percent(noticed, judged)})**: seed ` +
      `${report.seed}, ${report.date}.`,
    `\`npm run test:mutation -- --again all\` tries the survivors again; \`--seed\`, \`--per-area\` and ` +
      `\`--areas\` draw others.\n`,
    ...(report.unitOnly ? ['Only unit tests ran: tests with worker processes were left out.\n'] : []),
    renderAreas(report),
    '`test/mutation/report/survivors.json` has the changed line of each survivor, and why no test failed. The code may ' +
      'have changed since.\n',
    ...areas.flatMap(({ name }) => renderUnexplained(name, survivors, reasons)),
  ];
  return pieces.join('\n');
}

function renderAreas({ results, sites }: MutationReport): string {
  const rows = Object.keys(sites).map((area) => {
    const own = results.filter((result) => result.area === area);
    const { noticed, judged } = countNoticed(own);
    const timeouts = own.filter(({ outcome }) => outcome === 'timeout').length;
    return `| ${area} | ${sites[area]} | ${judged} | ${noticed} | ${timeouts} | ${percent(noticed, judged)} |`;
  });
  const head = [
    '| Area | Sites | Tried | Noticed | of these by a timeout | Share |',
    '| --- | --- | --- | --- | --- | --- |',
  ];
  return [...head, ...rows, ''].join('\n');
}

/** The survivors of an area for which nobody has given a reason. */
function renderUnexplained(area: string, survivors: readonly MutantResult[], reasons: Reasons): string[] {
  return survivors
    .filter((survivor) => survivor.area === area && !reasons.some(({ name }) => name === survivor.name))
    .map(
      ({ name, file, line, mutated }) =>
        `- ${name}, \`${file}:${line}\`: \`${mutated.replaceAll('`', "'")}\`. **A test is missing.**\n`,
    );
}

function requireSurvivors(reasons: Reasons, survivors: readonly MutantResult[]): void {
  const stale = reasons.filter(
    (reason) => !survivors.some(({ name, mutated }) => name === reason.name && mutated === reason.mutated),
  );
  if (stale.length === 0) return;
  throw new Error(
    `survivors.json gives reasons for ${stale.map(({ name }) => name).join(', ')}, which did not survive: remove them.`,
  );
}

const percent = (part: number, whole: number): string => (whole === 0 ? '–' : `${((100 * part) / whole).toFixed(1)} %`);
