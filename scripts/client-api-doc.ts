import { execFileSync } from 'node:child_process';
import { globSync, mkdtempDisposableSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import {
  API,
  type Project,
  SymbolFlags,
  type Symbol as TypeScriptSymbol,
} from 'typescript/unstable/sync';
import { readPage, type Sample } from '../client/test/support/samples.ts';

const root = join(import.meta.dirname, '..');
const PACKAGE = 'trading-graph-client';
// Rows of the server, whose fields the schema describes.
const ROWS = new Set(['Instrument', 'PendingOrder', 'Position']);

type Declared = ReturnType<typeof exportsOf>[number];

/** docs/client-api.md: each export of each entry of the client, from its declaration files. Throws where one has no comment. */
export function clientApiPage(): string {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'client-api-'));
  const entries = declarations(folder.path);
  const uncommented = entries.flatMap(([entry, all]) =>
    all.filter(({ comment }) => comment === '').map(({ name }) => `${entry}: ${name}`),
  );
  if (uncommented.length > 0) {
    throw new Error(`Exports of the client need a comment:\n${uncommented.join('\n')}`);
  }
  const samples = compiledSamples();
  const first = new Map<string, string>();
  const sections = entries.map(([entry, all]) => {
    const parts = all.map((declared) => {
      const { name, signature } = declared;
      const known = first.get(signature);
      if (known !== undefined) return `### ${name}\n\nAs in \`${known}\`.\n`;
      first.set(signature, entry);
      return part(declared, samples);
    });
    return `## ${entry}\n\n${parts.join('\n')}`;
  });
  return `# The client's exports

<!-- Written by \`npm run docs\` from the declarations and comments of client/src. -->

For developers who look up a name of [trading-graph-client](../client/README.md): all that each entry exports, with its types.

${sections.join('\n')}`;
}

/** What each entry exports, by the name that an app imports. */
function declarations(folder: string): readonly (readonly [string, readonly Declared[]])[] {
  const tools = ['typescript/lib/tsc.js', 'rolldown/bin/cli.mjs'];
  const paths = tools.map((tool) => join(root, 'node_modules', tool));
  execFileSync(process.execPath, [join(root, 'client/build.mjs'), folder, ...paths]);
  const { exports } = JSON.parse(readFileSync(join(root, 'client/package.json'), 'utf8'));
  const entries = Object.entries<string | { import: { types: string } }>(exports).flatMap(
    ([entry, target]) =>
      typeof target === 'string' ? [] : [[join(PACKAGE, entry), target.import.types] as const],
  );
  const config = join(folder, 'tsconfig.json');
  const compilerOptions = { module: 'nodenext', types: [], skipLibCheck: true };
  writeFileSync(
    config,
    JSON.stringify({ compilerOptions, files: entries.map(([, file]) => file) }),
  );
  const api = new API({ cwd: folder });
  try {
    const project = api.updateSnapshot({ openProjects: [config] }).getProject(config);
    if (project === undefined) throw new Error(`${config} is no project`);
    return entries.map(([entry, file]) => [entry, exportsOf(project, join(folder, file))]);
  } finally {
    api.close();
  }
}

function exportsOf({ program, checker }: Project, file: string) {
  const source = program.getSourceFile(file);
  const module = source && checker.getSymbolAtLocation(source);
  if (module === undefined) throw new Error(`${file} is no module`);
  return checker
    .getExportsOfModule(module)
    .map((symbol) => {
      const isAlias = (symbol.flags & SymbolFlags.Alias) !== 0;
      const target = isAlias ? checker.getAliasedSymbol(symbol) : symbol;
      return {
        name: symbol.name,
        comment: checker.getDocumentationCommentOfSymbol(target).trim(),
        signature: textOf(target),
        isType: (target.flags & SymbolFlags.Value) === 0,
      };
    })
    .sort(
      (one, other) => Number(one.isType) - Number(other.isType) || compare(one.name, other.name),
    );
}

function textOf({ declarations: all }: TypeScriptSymbol): string {
  const texts = all.map((handle) => {
    const node = handle.resolve();
    // A variable is declared by the statement around it.
    const whole = node?.parent?.parent;
    return (node?.getText().startsWith('export') ? node : (whole ?? node))?.getText() ?? '';
  });
  return texts.join('\n').replace(/^export (declare )?/gm, '');
}

function part({ name, comment, signature, isType }: Declared, samples: readonly Sample[]): string {
  const shown = isType ? '' : exampleOf(name, samples);
  const text = `\n\`\`\`typescript\n${signature}\n\`\`\`\n`;
  return `### ${name}\n\n${comment.replace(/\s+/g, ' ')}\n${ROWS.has(name) ? '' : text}${shown}`;
}

/** The shortest of the samples, which are compiled, that imports the name. */
function exampleOf(name: string, samples: readonly Sample[]): string {
  const uses = new RegExp(`import [^;]*\\b${name}\\b[^;]*'${PACKAGE}`);
  const [shortest] = samples
    .filter(({ text }) => uses.test(text))
    .sort((one, other) => one.text.length - other.text.length);
  if (shortest === undefined) return '';
  const { page } = shortest;
  return `\nExample: [${page}](${relative('docs', page)})\n`;
}

function compiledSamples(): readonly Sample[] {
  const of = (pattern: string[]) => globSync(pattern, { cwd: root }).sort();
  const onPages = of(['client/README.md', 'docs/clients/*.md'])
    .flatMap((page) => readPage(page).samples)
    .filter(({ language }) => language === 'ts' || language === 'tsx');
  const apps = of(['examples/{react,expo}/src/*.{ts,tsx}']).map((page) => {
    const text = readFileSync(join(root, page), 'utf8');
    return { page, line: 1, language: 'tsx', file: page, text };
  });
  return [...onPages, ...apps];
}

function compare(one: string, other: string): number {
  return one < other ? -1 : 1;
}
