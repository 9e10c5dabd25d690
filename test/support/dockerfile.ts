export interface Instruction {
  readonly name: string;
  readonly rest: string;
}

export interface Stage {
  readonly image: string;
  readonly instructions: readonly Instruction[];
}

/** The stages of a Dockerfile without heredocs and parser directives, as in this project. */
export function parseDockerfile(source: string): Stage[] {
  const stages: { image: string; instructions: Instruction[] }[] = [];
  const joined = source.replace(/^\s*#.*\n/gm, '').replace(/\\\n\s*/g, ' ');
  for (const line of joined.split('\n').filter((one) => one.trim() !== '')) {
    const [, name = '', rest = ''] = /^\s*(\w+)\s+(.*)$/.exec(line) ?? [];
    if (name === 'FROM') stages.push({ image: rest.split(/\s+/)[0] ?? '', instructions: [] });
    else stages.at(-1)?.instructions.push({ name, rest });
  }
  return stages;
}

/** The pairs of an ENV or LABEL instruction. Values with spaces are in double quotes. */
export function parsePairs(rest: string): Record<string, string> {
  const pairs = rest.matchAll(/([^\s=]+)=(?:"([^"]*)"|(\S*))/g);
  return Object.fromEntries(
    [...pairs].map(([, name = '', quoted, plain = '']) => [name, quoted ?? plain]),
  );
}

/** Default values of the build arguments before the first stage. */
export function parseGlobalArguments(source: string): Record<string, string> {
  const [head = ''] = source.split(/^FROM /m);
  return Object.fromEntries(
    [...head.matchAll(/^ARG (\w+)=(\S+)$/gm)].map(([, name = '', value = '']) => [name, value]),
  );
}

/** The environment of a container of the stage; arguments have their defaults, or are empty. */
export function environmentOf({ instructions }: Stage): Record<string, string> {
  const all = (wanted: string) =>
    instructions.map(({ name, rest }) => (name === wanted ? rest : '')).join(' ');
  const declared = parsePairs(all('ARG'));
  const expand = (_: string, name: string) => declared[name] ?? '';
  return parsePairs(all('ENV').replace(/\$\{(\w+)\}/g, expand));
}

/** Returns true if .dockerignore keeps a path in the build context: the last matching rule decides. */
export function isInContext(path: string, dockerignore: string): boolean {
  let isSent = true;
  for (const line of dockerignore.split('\n')) {
    const rule = line.trim();
    if (rule === '' || rule.startsWith('#')) continue;
    const isException = rule.startsWith('!');
    const pattern = rule.replace(/^!/, '').replace(/\/$/, '');
    if (pattern === '*' || path === pattern || path.startsWith(`${pattern}/`)) isSent = isException;
  }
  return isSent;
}
