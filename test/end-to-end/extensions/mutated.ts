import { parseAst } from 'rolldown/parseAst';

/** The kinds of faults that an expression may have; only one that waits can hurry. */
export const FAULTS = {
  throws: "() => { throw new Error('planted'); }",
  rejects: "() => Promise.reject(new Error('planted'))",
  never: '() => new Promise(() => {})',
  undefined: '() => undefined',
  null: '() => null',
  text: "() => 'planted'",
  number: '() => 7.5',
  function: '() => () => 1',
  list: '() => [undefined, null, 1n]',
  circle: '() => { const circle = {}; circle.circle = circle; return circle; }',
  getter: "() => ({ get id() { throw new Error('planted'); } })",
  toJson: "() => ({ toJSON() { throw new Error('planted'); } })",
  thenable: "() => ({ then() { throw new Error('planted'); } })",
  hurries: '',
  // These leave the value as it is.
  forgets: "() => void Promise.reject(new Error('planted'))",
  timer: "() => void setTimeout(() => { throw new Error('planted'); }, 1)",
} as const;

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [property: string]: unknown;
}

/** Where an expression may stand that another one can replace. */
const PLACES: Readonly<Record<string, readonly string[]>> = {
  ArrowFunctionExpression: ['body'],
  AwaitExpression: ['argument'],
  BinaryExpression: ['left', 'right'],
  CallExpression: ['arguments'],
  ConditionalExpression: ['test', 'consequent', 'alternate'],
  ExpressionStatement: ['expression'],
  IfStatement: ['test'],
  LogicalExpression: ['left', 'right'],
  MemberExpression: ['object'],
  NewExpression: ['arguments'],
  Property: ['value'],
  ReturnStatement: ['argument'],
  TemplateLiteral: ['expressions'],
  ThrowStatement: ['argument'],
  VariableDeclarator: ['init'],
};
const NO_VALUE = /^TS|Function|Statement|^ChainExpression|^SpreadElement/;
const NO_CODE = new Set(['params', 'id', 'typeAnnotation', 'typeArguments', 'returnType']);

/**
 * The source with every mutant in it, and the mutants' names. None of them shows until the file `control` has its name; the file
 * beside it gets the places that are evaluated meanwhile. So all mutants have one process in which to do harm.
 */
export function mutated(source: string, control: string) {
  const sites: Node[] = [];
  collect(parseAst(source, { lang: 'ts' }) as unknown as Node, 0, sites);
  const render = (start: number, end: number, within: readonly Node[]): string => {
    let text = '';
    let at = start;
    for (const site of within) {
      if (site.start < at) continue;
      const inner = within.filter(
        (one) => one !== site && one.start >= site.start && one.end <= site.end,
      );
      const { argument } = site as { readonly argument?: Node };
      const hurried =
        site.type === 'AwaitExpression' && argument
          ? `$kind === 'hurries' ? (${render(argument.start, argument.end, inner)}) : `
          : '';
      const original = render(site.start, site.end, inner);
      text += `${source.slice(at, site.start)}($is(${sites.indexOf(site)}) ? ${hurried}$faults[$kind]() : (${original}))`;
      at = site.end;
    }
    return text + source.slice(at, end);
  };
  sites.sort((one, other) => one.start - other.start || other.end - one.end);
  const faults = Object.entries(FAULTS).map(([kind, code]) => `${kind}: ${code || 'null'}`);
  const text = `import { appendFileSync, readFileSync } from 'node:fs';
const $faults = { ${faults.join(', ')} };
let $kind = '';
const $is = (site) => {
  const [at, kind] = readFileSync(${JSON.stringify(control)}, 'utf8').split(' ');
  if (at === '') return false;
  appendFileSync(${JSON.stringify(`${control}.seen`)}, site + ' ');
  if (at !== String(site)) return false;
  $kind = kind;
  const stays = kind === 'forgets' || kind === 'timer';
  if (stays) $faults[kind]();
  return !stays;
};
${render(0, source.length, sites)}`;
  const mutantsAt = (site: number) =>
    Object.keys(FAULTS)
      .filter((kind) => kind !== 'hurries' || sites[site]?.type === 'AwaitExpression')
      .map((kind) => `${site} ${kind}`);
  return { text, mutantsAt };
}

/** Only what a request may evaluate: the functions within that of the extension. */
function collect(value: unknown, depth: number, sites: Node[], isPlace = false): void {
  if (Array.isArray(value)) {
    for (const each of value) collect(each, depth, sites, isPlace);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  const node = value as Node;
  const { type = '' } = node;
  if (type === 'TSAsExpression') collect(node.expression, depth, sites, isPlace);
  if (type.startsWith('TS')) return;
  if (isPlace && depth > 1 && !NO_VALUE.test(type)) sites.push(node);
  if (type === 'Property' && (node.shorthand || node.method)) return;
  const inside = depth + (type.includes('Function') ? 1 : 0);
  for (const [property, child] of Object.entries(node)) {
    if (NO_CODE.has(property)) continue;
    collect(child, inside, sites, PLACES[type]?.includes(property) ?? false);
  }
}
