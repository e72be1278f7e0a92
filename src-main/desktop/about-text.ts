/** The text of the about box. @param versions of the running process */
export function aboutText(description: string, versions: Readonly<Record<string, string | undefined>>): string {
  const named = [
    ['Electron', versions.electron],
    ['Chromium', versions.chrome],
    ['Node', versions.node],
    ['V8', versions.v8],
  ];
  const lines = named.flatMap(([name, version]) => (version === undefined ? [] : [`${name} ${version}`]));
  return [`${description}.`, '', ...lines, '', 'MIT licence. The packages in it have their own licences.'].join('\n');
}
