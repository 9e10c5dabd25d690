// Prints how large the project is, and fails if a part is larger than it may be. `npm run verify` runs it.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const files = execFileSync('git', ['ls-files'], { encoding: 'utf8' }).trim().split('\n');
const read = (path: string) => readFileSync(path, 'utf8');

const CODE = /\.(?:[cm]?[jt]sx?|html|css|sh|kts?|swift)$/;
const AROUND = /^src\/(?:check|sandbox|page|graphiql)\//;
const GENERATED_PAGES = ['docs/errors.md', 'docs/metrics.md'];
/** Matches the parts of a page that `npm run docs` writes. */
const GENERATED_PART = /<!-- (\w+): written by `npm run docs` -->[\s\S]*?<!-- \/\1 -->/g;

const lines = (isPart: (path: string) => boolean) =>
  files
    .filter((path) => CODE.test(path) && isPart(path))
    .reduce((sum, path) => sum + read(path).split('\n').length - 1, 0);
const locks = files.filter((path) => path.endsWith('package-lock.json'));

interface Size {
  readonly what: string;
  readonly found: number;
  readonly limit: number;
  /** Remove it when the limit is met. After that the project may not exceed the limit again. */
  readonly isNotMetYet?: true;
}

const SIZES: readonly Size[] = [
  {
    what: 'lines of the service (src without check, sandbox, page and graphiql)',
    found: lines((path) => path.startsWith('src/') && !AROUND.test(path)),
    limit: 28_000,
    isNotMetYet: true,
  },
  {
    what: 'lines of tests (test, client/test)',
    found: lines((path) => /^(?:client\/)?test\//.test(path)),
    limit: 48_000,
    isNotMetYet: true,
  },
  {
    what: 'lines of the client (client/src)',
    found: lines((path) => path.startsWith('client/src/')),
    limit: 8_800,
  },
  {
    what: 'lines around them (check, sandbox, page, graphiql, scripts, bench, examples)',
    found: lines((path) => AROUND.test(path) || /^(?:scripts|bench|examples)\//.test(path)),
    limit: 17_000,
  },
  {
    what: 'words of pages written by hand',
    found: writtenWords(),
    limit: 25_000,
  },
  {
    what: 'lines of lock files',
    found: locks.reduce((sum, path) => sum + read(path).split('\n').length - 1, 0),
    limit: 30_000,
  },
  { what: 'packages that `npm start` installs', found: servicePackages(), limit: 80 },
];

for (const { what, found, limit, isNotMetYet } of SIZES) {
  const isOver = found > limit;
  const problem = isNotMetYet ? ': not met yet' : ': TOO MANY';
  const remark = isOver ? problem : '';
  console.log(`${String(found).padStart(6)} of ${limit} ${what}${remark}`);
  if (isOver && !isNotMetYet) process.exitCode = 1;
}

function writtenWords(): number {
  const pages = files.filter((path) => path.endsWith('.md') && !GENERATED_PAGES.includes(path));
  const texts = pages.map((path) => read(path).replace(GENERATED_PART, ''));
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
