/**
 * The hosts of SLURM's compressed list, in its order: `node[01-03,7],login` gives node01, node02, node03, node7, login. A name may have several
 * brackets: `rack[1-2]n[0-1]`.
 * @throws Error that names the list, if a bracket does not close or a range is none
 */
export function expandHostList(list: string): string[] {
  return splitOutsideBrackets(list).flatMap((part) => expandName(part, list));
}

function splitOutsideBrackets(list: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let i = 0; i <= list.length; i += 1) {
    if (list[i] === '[') depth += 1;
    if (list[i] === ']') depth -= 1;
    if (depth < 0 || depth > 1 || (i === list.length && depth !== 0)) throw malformed(list);
    if (i < list.length && (list[i] !== ',' || depth > 0)) continue;
    parts.push(list.slice(start, i).trim());
    start = i + 1;
  }
  return parts.filter((part) => part !== '');
}

function expandName(name: string, list: string): string[] {
  const open = name.indexOf('[');
  if (open === -1) return [name];
  const close = name.indexOf(']', open);
  const endings = expandName(name.slice(close + 1), list);
  const numbers = name
    .slice(open + 1, close)
    .split(',')
    .flatMap((range) => expandRange(range, list));
  return numbers.flatMap((number) => endings.map((ending) => `${name.slice(0, open)}${number}${ending}`));
}

/** More hosts than any cluster has come from a list that was damaged. */
const mostHosts = 100_000;

/** `08-11` keeps its leading zeros. */
function expandRange(range: string, list: string): string[] {
  const found = /^(\d+)(?:-(\d+))?$/.exec(range);
  if (found === null) throw malformed(list);
  const [, first, last = first] = found;
  const count = Number(last) - Number(first) + 1;
  if (count < 1 || count > mostHosts) throw malformed(list);
  return Array.from({ length: count }, (_, i) => String(Number(first) + i).padStart(first.length, '0'));
}

function malformed(list: string): Error {
  return new Error(`"${list}" is not a list of hosts as SLURM writes it: node[01-04,7],login.`);
}
