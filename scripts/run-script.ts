// Runs a subcommand of an npm script: `npm run soak -- orders --minutes 10`. The first subcommand needs no name, and the
// last program of a subcommand gets the arguments.
import { spawnSync } from 'node:child_process';

const VITEST = ['node_modules/vitest/vitest.mjs', 'run'];
/** What most changes break first, in some ten seconds: the printed schema, its rules, and the layers. */
const QUICK = ['test/schema', 'test/layers.test.ts'];
/** The arguments of `node`, or a command of npm. */
type Program = readonly string[];
/** The programs that run one after the other, by subcommand. */
type Subcommands = Readonly<Record<string, readonly Program[]>>;

const SUBCOMMANDS: Readonly<Record<string, Subcommands>> = {
  test: {
    suites: [VITEST],
    '--long': [VITEST],
    '--all': [VITEST],
    '--changed': [
      ['node_modules/typescript/bin/tsc'],
      [...VITEST, ...QUICK],
      [...VITEST, '--changed'],
    ],
  },
  docs: {
    pages: [['scripts/docs.ts'], ['src/page/bundle.ts']],
    graphiql: [['npm', 'ci', '--prefix', 'src/graphiql'], ['src/graphiql/bundle.ts']],
    screenshots: [['scripts/screenshots.ts']],
  },
  soak: {
    orders: [['scripts/orders-model.ts']],
    fuzz: [['scripts/fuzz.ts']],
    tests: [['scripts/repeat-tests.ts']],
  },
  bundle: { program: [['scripts/image/bundle.ts', '.']] },
};

const [script = '', subcommand = '', ...rest] = process.argv.slice(2);
const subcommands = SUBCOMMANDS[script] ?? {};
const isNamed = Object.hasOwn(subcommands, subcommand);
const [firstPrograms] = Object.values(subcommands);
const programs = (isNamed ? subcommands[subcommand] : firstPrograms) ?? [];
const isArgument = !isNamed && subcommand !== '';
const args = isArgument ? [subcommand, ...rest] : rest;
if (subcommand === '--long') Object.assign(process.env, { CI: 'true', LONG: 'true' });
if (subcommand === '--changed') Object.assign(process.env, { NEAREST: 'true' });
if (subcommand === '--all') Object.assign(process.env, { CI: 'true', FULL: 'true' });
for (const program of programs.slice(0, -1)) {
  const command = program[0] === 'npm' ? program : [process.execPath, ...program];
  // `env` runs the command that its arguments name.
  const { status } = spawnSync('env', command, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
// Replaces this process, so that a signal reaches the program itself.
process.execve?.(process.execPath, [process.execPath, ...(programs.at(-1) ?? []), ...args]);
