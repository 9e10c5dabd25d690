import { cpSync, globSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { packClient } from './packed-client.ts';
import { STAND_INS } from './react-native-stand-ins.ts';
import { runTool } from './run-tool.ts';
import { type Sample, samplesOf } from './samples.ts';

const root = join(import.meta.dirname, '..', '..', '..');

/** The project's pages. */
export const PAGES: readonly string[] = globSync('**/*.md', {
  cwd: root,
  exclude: (path) => /(?:^|\/)node_modules$/.test(path),
}).sort();

/** The pages whose samples change this checkout. Those of all other pages belong to apps. */
export const OF_CHECKOUT: ReadonlySet<string> = new Set(['CONTRIBUTING.md', 'docs/your-own.md']);
/** Pages whose apps forms.test.ts builds, with packages that are not installed here. */
const OF_APPS: ReadonlySet<string> = new Set(['docs/next.md', 'docs/nuxt.md', 'docs/sveltekit.md']);
/**
 * Packages that are not installed here, files that commands make, and a declaration that concerns all apps. Suites of the
 * frameworks and of other clients compile with them.
 */
const OF_FRAMEWORKS =
  /from '(?:vue|@angular\/core|next\/[\w-]+|@urql\/[\w-]+|relay-runtime|react-relay|vite-plugin-relay|urql|@tanstack\/react-query|\.\/gql)'|^declare module/m;

/** What the samples of pages use without showing it. */
const GLOBALS = `
declare const session: { token(options: { refresh: boolean }): Promise<string | null> };
declare function freshToken(): Promise<string>;
declare function showLogin(): void;
declare function report(code: string, requestId: string | null): void;
declare function draw(...shown: unknown[]): void;
declare const client: import('trading-graph-client').Client;
declare const LOGIN: import('trading-graph-client').TypedText<unknown, { input: object }>;
declare const input: { email: string; password: string };
declare const cursor: string | null;
declare const ws: import('graphql-ws').Client;
declare const sink: import('graphql-ws').Sink;
`;

type Files = Map<string, string>;

/**
 * A folder outside the workspace with the TypeScript of all pages. It uses the project's own packages, and the client as
 * it is published.
 */
export async function createSampleProject() {
  const packages = readdirSync(join(root, 'node_modules')).filter(
    (name) => !name.startsWith('.') && name !== 'trading-graph-client',
  );
  const { app: folder, write, [Symbol.asyncDispose]: dispose } = await packClient(packages);
  const samples = PAGES.flatMap((page) => samplesOf(page)).filter(isCompiled);
  const isOfCheckout = ({ page }: Sample) => OF_CHECKOUT.has(page);
  const files = [
    ['apps/tsconfig.json', JSON.stringify(OPTIONS_OF_APPS)] as const,
    ['apps/stand-ins.d.ts', STAND_INS] as const,
    ['apps/globals.d.ts', GLOBALS] as const,
    ['checkout/tsconfig.json', JSON.stringify(OPTIONS_OF_CHECKOUT)] as const,
    ...appFiles(samples.filter((sample) => !isOfCheckout(sample))),
  ];
  for (const [path, text] of files) write(path, text);
  cpSync(join(root, 'src'), join(folder, 'checkout', 'src'), { recursive: true });
  for (const [path, text] of checkoutFiles(samples.filter(isOfCheckout))) {
    write(`checkout/${path}`, text);
  }
  // The app of a sample has a checkout next to it.
  symlinkSync(root, join(folder, 'apps', 'trading-graph'));
  return {
    samples,
    /** Type-checks everything; throws the compiler's output if it has found something. */
    compile: () =>
      Promise.all(
        ['apps', 'checkout'].map((part) =>
          runTool('typescript/bin/tsc', ['-p', join(folder, part)], folder),
        ),
      ),
    [Symbol.asyncDispose]: dispose,
  };
}

function isCompiled({ page, language, text }: Sample): boolean {
  return /^tsx?$/.test(language) && !OF_APPS.has(page) && !OF_FRAMEWORKS.test(text);
}

/** Each section of a page is an app. A file that it imports and does not show is that of an earlier section. */
function appFiles(samples: readonly Sample[]): Files {
  const shown = new Map<string, Sample>();
  const files: Files = new Map();
  const add = (app: string, sample: Sample) => {
    const { file, line, language, text } = sample;
    const path = file ?? `line-${line}.${language}`;
    files.set(`${app}/${path}`, atLine(line, `${text}export {};\n`));
    shown.set(path, sample);
    for (const [, name = ''] of text.matchAll(/from '(\.{1,2}\/[^']+)'/g)) {
      const imported = [`${name}.ts`, `${name}.tsx`].map((each) => join(dirname(path), each));
      const isInApp = imported.some((each) =>
        samples.some((other) => other.file === each && appOf(other) === app),
      );
      const [earlier] = imported.flatMap((each) => shown.get(each) ?? []);
      if (!isInApp && earlier !== undefined) add(app, earlier);
    }
  };
  for (const sample of samples) add(appOf(sample), sample);
  return files;
}

function appOf({ page, section }: Sample): string {
  return `apps/${`${page} ${section}`.replaceAll(/\W/g, '-')}`;
}

/**
 * A sample with imports is a whole file of the checkout. Any other is added to the file that it names: at its end, or in the
 * object of its first line, such as `// in SETTINGS`.
 */
export function checkoutFiles(samples: readonly Sample[]): Files {
  return new Map(
    samples.map(({ page, file, line, text }): [string, string] => {
      if (file === null) throw new Error(`${page}:${line} names no file`);
      const isNew = text.startsWith('import ');
      return [
        file,
        isNew ? atLine(line, text) : added(readFileSync(join(root, file), 'utf8'), text),
      ];
    }),
  );
}

function added(before: string, text: string): string {
  const [, object] = /^\/\/ in (\w+)\n/.exec(text) ?? [];
  if (object === undefined) return before + text;
  const opening = `export const ${object} = {\n`;
  if (!before.includes(opening)) throw new Error(`${object} is no object`);
  // A checkout that has followed the page has these lines.
  const missing = text.split('\n').filter((line) => line === '' || !before.includes(line));
  return before.replace(opening, (found) => found + missing.join('\n'));
}

/** The options of an app by `npm create vite`, and the stricter ones that a team may add. */
const OPTIONS_OF_APPS = {
  compilerOptions: {
    target: 'es2024',
    lib: ['ES2024', 'ESNext.Disposable', 'DOM', 'DOM.Iterable'],
    module: 'esnext',
    moduleResolution: 'bundler',
    types: ['node', 'vite/client'],
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    verbatimModuleSyntax: true,
    moduleDetection: 'force',
    noEmit: true,
    jsx: 'react-jsx',
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    erasableSyntaxOnly: true,
    noFallthroughCasesInSwitch: true,
  },
  exclude: ['trading-graph'],
};

/** The checkout with all samples, without its tests. */
const OPTIONS_OF_CHECKOUT = {
  extends: join(root, 'tsconfig.json'),
  compilerOptions: { typeRoots: [join(root, 'node_modules/@types')] },
  include: ['src'],
  exclude: ['src/page/src', 'src/graphiql'],
};

/** Makes the compiler's messages name the lines of the page. */
function atLine(line: number, text: string): string {
  return '\n'.repeat(line - 1) + text;
}
