import { copyFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type InlineConfig } from 'vite';
import { packClient } from './packed-client.ts';
import { runTool } from './run-tool.ts';
import { namedSamples, readPage } from './samples.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const SHARED_PAGE = 'docs/clients/README.md';

export type SampleProject = Awaited<ReturnType<typeof createSampleProject>>;

/**
 * An app outside the workspace whose files are the samples of a page. The packages are the project's own, beside which stands the client as it is published. A file of
 * `replaced` takes the place of the page's.
 */
export async function createSampleProject(
  page: string,
  replaced: Readonly<Record<string, string>> = {},
) {
  const packages = readdirSync(join(root, 'node_modules')).filter(
    (name) => !name.startsWith('.') && name !== 'trading-graph-client',
  );
  const { app: folder, write, [Symbol.asyncDispose]: dispose } = await packClient(packages);
  copyFileSync(join(root, 'schema.graphql'), join(folder, 'schema.graphql'));
  write('tsconfig.json', JSON.stringify(page.endsWith('/react-native.md') ? BARE : TSCONFIG));
  const files = new Map([...namedSamples(SHARED_PAGE), ...namedSamples(page)]);
  for (const [file, { line, text }] of files) write(file, atLine(line, text));
  const { samples, globals } = readPage(page);
  write('globals.d.ts', globals);
  for (const { file, language, line, text } of samples) {
    if (file !== null || !['ts', 'tsx'].includes(language)) continue;
    write(`line-${line}.${language}`, `${atLine(line, text)}export {};\n`);
  }
  for (const [file, text] of Object.entries(replaced)) write(file, text);
  let loads = 0;
  // A page's own vite.config.ts is found in the folder.
  const common: InlineConfig = {
    root: folder,
    mode: 'development',
    logLevel: 'error',
    define: {
      'import.meta.env.VITE_GRAPHQL_URL': 'globalThis.graphqlUrl',
      'process.env.NODE_ENV': '"development"',
    },
  };
  return {
    folder,
    write,
    /** Runs the code generators whose configuration is among the samples. */
    async generate() {
      if (files.has('codegen.ts')) {
        await runTool('@graphql-codegen/cli/cjs/bin.js', ['--config', 'codegen.ts'], folder);
      }
      if (files.has('relay.config.json')) {
        await runTool('relay-compiler/cli.js', [], folder);
      }
    },
    /** Type-checks everything as an app made by Vite does; returns what the compiler says. */
    compile: () => runTool('typescript/bin/tsc', ['-p', folder]),
    /** Builds a module of the app for Node, and imports it anew, as another start of the app does. The endpoint is `globalThis.graphqlUrl`. */
    async load<Module>(entry: string) {
      loads += 1;
      const outDir = join(folder, 'built', entry);
      const path = join(outDir, 'entry.mjs');
      const output = { entryFileNames: 'entry.mjs', codeSplitting: false };
      if (!existsSync(path)) {
        await build({
          ...common,
          ssr: { noExternal: true },
          build: { ssr: join(folder, entry), outDir, minify: false, rolldownOptions: { output } },
        });
      }
      return (await import(`${pathToFileURL(path).href}?${loads}`)) as Module;
    },
    /** Builds a module of the app for a browser, as a script. */
    async bundle(entry: string, format: 'iife' | 'es' = 'iife') {
      const outDir = join(folder, 'page');
      const lib = {
        entry: join(folder, entry),
        formats: [format],
        name: 'app',
        fileName: 'app',
      };
      await build({ ...common, build: { lib, outDir, minify: false } });
      const [script] = readdirSync(outDir).filter((name) => name.endsWith('.js'));
      return readFileSync(join(outDir, script ?? ''), 'utf8');
    },
    [Symbol.asyncDispose]: dispose,
  };
}

/** The compiler options that `npm create vite` gives an app in TypeScript, except those of style alone. */
const TSCONFIG = {
  compilerOptions: {
    target: 'es2023',
    lib: ['ES2023', 'DOM', 'DOM.Iterable'],
    module: 'esnext',
    moduleResolution: 'bundler',
    types: ['vite/client'],
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    verbatimModuleSyntax: true,
    moduleDetection: 'force',
    noEmit: true,
    jsx: 'react-jsx',
    strict: true,
    erasableSyntaxOnly: true,
    noFallthroughCasesInSwitch: true,
  },
  include: ['**/*.ts', '**/*.tsx'],
};

/** React Native's options leave the types of DOM out. */
const BARE = {
  ...TSCONFIG,
  compilerOptions: { ...TSCONFIG.compilerOptions, lib: ['ES2022'], types: [] },
};

/** The compiler's messages then name the lines of the page. */
function atLine(line: number, text: string): string {
  return '\n'.repeat(line - 1) + text;
}
