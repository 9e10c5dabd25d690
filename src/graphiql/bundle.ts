/**
 * Makes the files of GraphiQL that the service serves: run `npm run docs -- graphiql` after a change in this folder. The
 * compressed files are kept in the repository, so that the service needs no build before it starts.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { type Plugin, rolldown } from 'rolldown';
import { fingerprint } from './fingerprint.ts';

const FOLDER = import.meta.dirname;
const MODULES = join(FOLDER, 'node_modules');
const PERMISSIVE = ['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT'];
const PAGE = join(FOLDER, 'page');
const TARGET = join(FOLDER, 'bundle');
/** The folder of a module's package, whose name can have a scope. */
const PACKAGE_FOLDER = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/;

const PX_PER_REM = 16;

/** Texts and their replacements. A regular expression replaces its first match. */
type Repairs = readonly (readonly [old: string | RegExp, better: string])[];

/** GraphiQL's colours of code, and replacements with enough contrast to read. */
const CONTRAST: Repairs = [
  ['--color-primary: 320, 95%, 43%', '--color-primary: 320, 95%, 38%'],
  ['--color-primary: 338, 100%, 67%', '--color-primary: 338, 100%, 73%'],
  ['--color-secondary: 242, 51%, 61%', '--color-secondary: 242, 51%, 52%'],
  ['--color-tertiary: 188, 100%, 36%', '--color-tertiary: 188, 100%, 24%'],
  ['--color-info: 208, 100%, 46%', '--color-info: 208, 100%, 35%'],
  ['--color-success: 158, 60%, 42%', '--color-success: 158, 60%, 24%'],
  ['--color-warning: 36, 100%, 41%', '--color-warning: 36, 100%, 25%'],
  ['--color-error: 13, 93%, 58%', '--color-error: 13, 93%, 38%'],
  ['--alpha-secondary: .76', '--alpha-secondary: .88'],
  ['--alpha-tertiary: .5;', '--alpha-tertiary: .84;'],
];

/** Corrections of the accessible names, roles and keys of controls. */
const ACCESSIBILITY: readonly (readonly [file: string, Repairs])[] = [
  // A list item with the role of a tab may hold no buttons.
  [
    '@graphiql/react/dist/ui/tabs.js',
    [
      ['"aria-selected": isActive, role: "tab",', '"aria-current": isActive ? "true" : undefined,'],
      ['role: "tablist", ', ''],
    ],
  ],
  [
    'plugin-history/dist/components.js',
    [['"aria-label": "Set active", children: displayName', 'children: displayName']],
  ],
  // The shortcut that the field shows: Ctrl+K, but on a Mac ⌘K. A browser would search the web.
  [
    'plugin-doc-explorer/dist/components/search.js',
    [
      [
        'if (event.metaKey && event.key === "k") {',
        'if ((isMacOs ? event.metaKey : event.ctrlKey) && event.key === "k" && inputRef.current) {\n          event.preventDefault();',
      ],
    ],
  ],
];

const bundle = await rolldown({
  input: { main: join(PAGE, 'main.js') },
  platform: 'browser',
  plugins: [replacements()],
  // Imports of style sheets are ignored: `styles` below joins the style sheets.
  moduleTypes: { '.css': 'empty' },
  transform: { define: { 'process.env.NODE_ENV': '"production"' } },
  onLog(level, { code, message }) {
    // Directives such as "use client" are for servers that render React.
    if (code !== 'MODULE_LEVEL_DIRECTIVE' && level === 'warn') throw new Error(message);
  },
});
const { output } = await bundle.generate({
  minify: true,
  entryFileNames: '[name].js',
  chunkFileNames: '[name].js',
  // Browsers read several files at a time, and cache a package that has not changed.
  codeSplitting: {
    groups: [
      { name: 'react', test: /node_modules\/(react|react-dom|scheduler)\// },
      { name: 'language', test: /node_modules\/(graphql|graphql-language-service|markdown-it)\// },
      { name: 'codemirror', test: /node_modules\/codemirror/ },
    ],
  },
});
await bundle.close();

rmSync(TARGET, { recursive: true, force: true });
mkdirSync(TARGET, { recursive: true });
const packages = new Set<string>();
for (const file of output) {
  if (file.type !== 'chunk') continue;
  write(file.fileName, file.code);
  for (const id of file.moduleIds) {
    const folder = PACKAGE_FOLDER.exec(id)?.[0];
    if (folder !== undefined) packages.add(folder);
  }
}
write('graphiql.css', styles());
writeFileSync(join(TARGET, 'licences.txt'), licences());
writeFileSync(join(TARGET, 'made-from.txt'), `${fingerprint()}\n`);
// Only this bundle needs the packages.
rmSync(MODULES, { recursive: true, force: true });

function write(name: string, text: string): void {
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
  const packed = brotliCompressSync(text, { params });
  writeFileSync(join(TARGET, `${name}.br`), packed);
  console.log(`${name}: ${text.length} bytes, ${packed.length} packed`);
}

/** GraphiQL's styles, then the page's. Two font families are left out: they are three times as large as everything else. */
function styles(): string {
  const css = readFileSync(join(MODULES, 'graphiql/dist/style.css'), 'utf8');
  const own = readFileSync(join(PAGE, 'page.css'), 'utf8');
  const withoutFonts = repaired(css, CONTRAST).replaceAll(/@font-face\s*\{[^}]*\}/g, '');
  // Sizes in px become rem, so that they follow the browser's text size.
  const scalable = withoutFonts.replaceAll(
    /(--px-\d+|--(?:sidebar|toolbar)-width|font-size):\s*(\d+)px/g,
    (_, name, px) => `${name}:${px / PX_PER_REM}rem`,
  );
  return scalable + own;
}

/** The licence texts of all bundled packages. Throws if a package has another licence than the permissive ones above. */
function licences(): string {
  const texts = [...packages].sort().map(licenceOf);
  return texts.join(`\n${'-'.repeat(80)}\n\n`);
}

function licenceOf(folder: string): string {
  const manifest = readFileSync(join(folder, 'package.json'), 'utf8');
  const { name, version, license } = JSON.parse(manifest);
  if (!PERMISSIVE.includes(license)) throw new Error(`${name} has the licence ${license}.`);
  const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
  const text = file ? readFileSync(join(folder, file), 'utf8').trim() : 'without a text of its own';
  return `${name} ${version}, ${license}\n\n${text}\n`;
}

/** Repairs the files of GraphiQL's packages while they are bundled. */
function replacements(): Plugin {
  return {
    name: 'replacements',
    transform(code, id) {
      const [, repairs] = ACCESSIBILITY.find(([file]) => id.endsWith(file)) ?? [];
      return repairs ? repaired(code, repairs) : null;
    },
  };
}

function repaired(text: string, repairs: Repairs): string {
  return repairs.reduce((before, [old, better]) => {
    const after =
      typeof old === 'string' ? before.replaceAll(old, better) : before.replace(old, better);
    if (after === before) throw new Error(`GraphiQL has no ${old} any more.`);
    return after;
  }, text);
}
