// Prints how large the project is, with the size that it aims at. It only informs, and never fails. `npm run verify` runs it.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const files = execFileSync('git', ['ls-files'], { encoding: 'utf8' }).trim().split('\n');
const CODE = /\.(?:[cm]?[jt]sx?|html|css|sh|kts?)$/;
const AROUND = /^src\/(?:check|sandbox|page|graphiql)\//;
const KOTLIN = /^kotlin\//;
const GENERATED_PAGES = ['docs/errors.md', 'docs/metrics.md'];
/** Matches the parts of a page that `npm run docs` writes. */
const GENERATED_PART = /<!-- (\w+): written by `npm run docs` -->[\s\S]*?<!-- \/\1 -->/g;

interface Size {
  readonly what: string;
  readonly found: number;
  readonly aim?: number;
}

const SIZES: readonly Size[] = [
  {
    what: 'lines of the service (src without check, sandbox, page and graphiql)',
    found: lines((path) => path.startsWith('src/') && !AROUND.test(path)),
    aim: 24_700,
  },
  {
    what: 'of them lines of the engine (src/engine)',
    found: lines((path) => path.startsWith('src/engine/')),
    aim: 5_300,
  },
  {
    what: 'lines of tests (test, client/test)',
    found: lines((path) => /^(?:client\/)?test\//.test(path)),
    aim: 45_000,
  },
  {
    what: 'lines of the client (client/src)',
    found: lines((path) => path.startsWith('client/src/')),
    aim: 9_400,
  },
  {
    what: 'lines around them (check, sandbox, page, graphiql, scripts, bench, examples)',
    found: lines((path) => AROUND.test(path) || /^(?:scripts|bench|examples)\//.test(path)),
  },
  {
    what: 'words of pages written by hand, without kotlin',
    found: writtenWords((path) => !KOTLIN.test(path)),
    aim: 24_000,
  },
  { what: 'lines of kotlin', found: lines((path) => KOTLIN.test(path)) },
  { what: 'words of pages in kotlin', found: writtenWords((path) => KOTLIN.test(path)) },
  { what: 'lines of lock files', found: linesOf(files.filter(isLockFile)) },
  { what: 'packages that `npm start` installs', found: servicePackages() },
];

for (const { what, found, aim } of SIZES) {
  console.log(`${String(found).padStart(6)} ${what}${aim === undefined ? '' : `; aim: ${aim}`}`);
}

function lines(isPart: (path: string) => boolean): number {
  return linesOf(files.filter((path) => CODE.test(path) && isPart(path)));
}

function linesOf(paths: readonly string[]): number {
  return paths.reduce((sum, path) => sum + read(path).split('\n').length - 1, 0);
}

function writtenWords(isPart: (path: string) => boolean): number {
  const pages = files.filter((path) => path.endsWith('.md') && !GENERATED_PAGES.includes(path));
  const texts = pages.filter(isPart).map((path) => read(path).replace(GENERATED_PART, ''));
  return texts.reduce((sum, text) => sum + text.split(/\s+/).filter(Boolean).length, 0);
}

/** Counts the packages that are installed if this machine's Node is new enough. */
function servicePackages(): number {
  const { packages } = JSON.parse(read('package-lock.json')) as {
    readonly packages: Readonly<Record<string, { dev?: true; optional?: true; link?: true }>>;
  };
  return Object.entries(packages).filter(([path, { dev, optional, link }]) => {
    const isOfService = path.includes('node_modules/') && !path.startsWith('client/');
    const isLeftOut = dev || optional || link;
    return isOfService && !isLeftOut;
  }).length;
}

function isLockFile(path: string): boolean {
  return path.endsWith('package-lock.json');
}

/** Reads a file. One that is deleted but still in git's index is empty. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
