import { copyFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { packClient } from './packed-client.ts';
import { STAND_INS } from './react-native-stand-ins.ts';
import { runTool } from './run-tool.ts';
import { namedSamples, readPage } from './samples.ts';

const root = join(import.meta.dirname, '..', '..', '..');

/**
 * An app outside the workspace, whose files are the samples of a page or of one section. It uses the project's own
 * packages, and the client as it is published.
 */
export async function createSampleProject(page: string, section?: string) {
  const packages = readdirSync(join(root, 'node_modules')).filter(
    (name) => !name.startsWith('.') && name !== 'trading-graph-client',
  );
  const { app: folder, write, [Symbol.asyncDispose]: dispose } = await packClient(packages);
  copyFileSync(join(root, 'schema.graphql'), join(folder, 'schema.graphql'));
  write('tsconfig.json', JSON.stringify(section === 'React Native' ? BARE : TSCONFIG));
  if (section === 'React Native') write('stand-ins.d.ts', STAND_INS);
  // Apollo's section builds on the files of React's.
  const sections = section === 'Apollo Client' ? ['React', section] : [section];
  const files = new Map(sections.flatMap((each) => [...namedSamples(page, each)]));
  for (const [file, { line, text }] of files) write(file, atLine(line, text));
  const { samples, globals } = readPage(page, section);
  write('globals.d.ts', globals);
  for (const { file, language, line, text } of samples) {
    if (file !== null || !['ts', 'tsx'].includes(language)) continue;
    write(`line-${line}.${language}`, `${atLine(line, text)}export {};\n`);
  }
  return {
    /** Type-checks everything like an app made by Vite; returns the compiler's output. */
    compile: () => runTool('typescript/bin/tsc', ['-p', folder]),
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

/** React Native's options leave out the types of DOM. */
const BARE = {
  ...TSCONFIG,
  compilerOptions: { ...TSCONFIG.compilerOptions, lib: ['ES2022'], types: [] },
};

/** Makes the compiler's messages name the lines of the page. */
function atLine(line: number, text: string): string {
  return '\n'.repeat(line - 1) + text;
}
