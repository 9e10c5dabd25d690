import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { ownFolder } from '../support/own-folder.ts';

const folder = ownFolder();
/** The largest process id that Linux can give, which no process has in practice. */
const NO_PROCESS = '4194303';
/** Replaces npm: records its arguments, fails if the file `fails` exists, and installs a Node. */
const NPM = `#!/bin/sh
echo "$1" >> "$NOTES"
echo "$npm_config_cache" > cache
echo "$@" > args
test ! -e fails || exit 7
mkdir -p node_modules/.bin && ln -sf "$PWD/bin/installed-node" node_modules/.bin/node`;
/** A Node that cannot run because a library is missing. */
const BROKEN_NODE =
  "#!/bin/sh\necho 'node: libatomic.so.1: cannot open shared object file' >&2; exit 127";
/** Makes the setup believe that it runs on this version of Node. */
const pretend = (node: string) =>
  `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${node}' } });`;

/** A new project with the setup script. Its PATH begins with the replaced npm. */
function project() {
  const path = (...parts: string[]) => join(folder.path, 'a project', ...parts);
  rmSync(path(), { recursive: true, force: true });
  for (const each of ['scripts', 'bin']) mkdirSync(path(each), { recursive: true });
  cpSync(join(import.meta.dirname, '../../scripts/setup.mjs'), path('scripts/setup.mjs'));
  writeFileSync(path('bin/npm'), NPM, { mode: 0o755 });
  writeFileSync(path('package-lock.json'), '{}');
  writeFileSync(path('bin/installed-node'), '#!/bin/sh', { mode: 0o755 });
  writeFileSync(path('preload.mjs'), '');
  const start = (...args: readonly string[]) => {
    const env = {
      PATH: [path('bin'), process.env.PATH].join(delimiter),
      HOME: folder.path,
      NOTES: path('notes'),
      NODE_OPTIONS: `--import=${pathToFileURL(path('preload.mjs'))}`,
    };
    return spawn(process.execPath, [path('scripts/setup.mjs'), ...args], { env });
  };
  /** Runs the setup, and returns its exit code, its output and the npm commands that it called. */
  const setUp = async (onOutput = () => {}, ...args: readonly string[]) => {
    const child = start(...args);
    child.stderr.once('data', onOutput);
    const [[code], output] = await Promise.all([once(child, 'close'), text(child.stderr)]);
    const calls = existsSync(path('notes')) ? readFileSync(path('notes'), 'utf8') : '';
    rmSync(path('notes'), { force: true });
    return { code, output, calls: calls.split('\n').filter(Boolean) };
  };
  return { path, start, setUp };
}

test('npm is called once for each package-lock.json, even if a killed start has left its lock', async () => {
  const { path, setUp } = project();
  writeFileSync(path('.setup.lock'), NO_PROCESS);
  expect(await setUp()).toMatchObject({ code: 0, calls: ['ci'] });
  expect(await setUp()).toEqual({ code: 0, calls: [], output: '' });
  writeFileSync(path('package-lock.json'), '{ }');
  expect(await setUp()).toMatchObject({ code: 0, calls: ['install'] });
  expect(existsSync(path('.setup.lock'))).toBe(false);
});

test('an empty lock is that of a killed start, unless it was created just now', async () => {
  const { path, setUp } = project();
  const lock = path('.setup.lock');
  writeFileSync(lock, '');
  utimesSync(lock, 0, 0);
  expect(await setUp()).toMatchObject({ code: 0, calls: ['ci'] });
  rmSync(path('node_modules'), { recursive: true });
  writeFileSync(lock, '');
  const { code, output } = await setUp(() => rmSync(lock));
  expect([code, output]).toEqual([0, expect.stringMatching(/^Another start is installing/)]);
});

test.each(['SIGINT', 'SIGTERM'] as const)('%s ends npm too, and leaves no lock', async (signal) => {
  const { path, start } = project();
  // npm itself goes on after a SIGINT.
  writeFileSync(path('bin/npm'), `#!/bin/sh\ntrap '' INT\ntouch running\nexec sleep 600`);
  const child = start();
  // npm writes its errors there too, so the pipe is closed when both have ended.
  let hasNpmEnded = false;
  child.stderr.resume().once('close', () => {
    hasNpmEnded = true;
  });
  await expect.poll(() => existsSync(path('running'))).toBe(true);
  await expect.poll(() => readFileSync(path('.setup.lock'), 'utf8')).toMatch(/^\d+ \d+$/);
  child.kill(signal);
  expect(await once(child, 'exit')).toEqual([1, null]);
  await expect.poll(() => hasNpmEnded).toBe(true);
  expect(existsSync(path('.setup.lock'))).toBe(false);
});

test('npm uses the user’s cache, or a cache of the project if the user’s cache is not writable', async () => {
  const { path, setUp } = project();
  const cache = join(folder.path, '.npm');
  await setUp();
  expect(readFileSync(path('cache'), 'utf8')).toBe(`${cache}\n`);
  // Even root cannot create a folder in a file.
  rmSync(cache, { recursive: true });
  writeFileSync(cache, '');
  writeFileSync(path('package-lock.json'), '{ }');
  expect(await setUp()).toMatchObject({ code: 0, calls: ['install'] });
  expect(readFileSync(path('cache'), 'utf8')).toBe('.npm-cache\n');
});

test('the command changes only packages that it installed itself, not those of an operator', async () => {
  const { path, setUp } = project();
  cpSync(join(import.meta.dirname, '../../scripts/trading-graph.sh'), path('scripts/command.sh'));
  mkdirSync(path('src/cli'), { recursive: true });
  writeFileSync(path('src/cli/main.ts'), 'console.log(process.argv[2]);');
  const run = () =>
    spawnSync('sh', [path('scripts/command.sh'), 'check'], {
      env: {
        PATH: [path('bin'), process.env.PATH].join(delimiter),
        HOME: folder.path,
        NOTES: path('notes'),
      },
      encoding: 'utf8',
    });
  // npm writes this file last: without it an installation is incomplete.
  mkdirSync(path('node_modules'));
  writeFileSync(path('node_modules/.package-lock.json'), '{}');
  expect(run()).toMatchObject({ status: 0, stdout: 'check\n', stderr: '' });
  expect(existsSync(path('notes'))).toBe(false);
  rmSync(path('node_modules/.package-lock.json'));
  run();
  expect(readFileSync(path('notes'), 'utf8')).toBe('ci\n');
  // The command updates packages that it installed itself.
  rmSync(path('notes'));
  writeFileSync(path('node_modules/.package-lock.json'), '{}');
  writeFileSync(path('package-lock.json'), '{ }');
  run();
  expect(readFileSync(path('notes'), 'utf8')).toBe('install\n');
  rmSync(path('notes'));
  expect((await setUp()).calls).toEqual([]);
});

test('packages behind a link are not changed, and reported as belonging to another lock file', async () => {
  const { path, setUp } = project();
  mkdirSync(path('others', '.bin'), { recursive: true });
  writeFileSync(path('others', '.setup-stamp'), 'of another lock file');
  symlinkSync(path('others'), path('node_modules'));
  const { code, output, calls } = await setUp();
  expect([code, calls]).toEqual([0, []]);
  expect(output).toMatch(/^node_modules is a link to packages of another lock file/);
  expect(readFileSync(path('others', '.setup-stamp'), 'utf8')).toBe('of another lock file');
});

test('a failed installation changes no record of which packages are installed', async () => {
  const { path, setUp } = project();
  writeFileSync(path('fails'), '');
  expect(await setUp()).toMatchObject({ code: 7, calls: ['ci'] });
  rmSync(path('fails'));
  // Nothing is recorded as installed, so the next start tries again.
  expect(await setUp()).toMatchObject({ code: 0, calls: ['ci'] });
  writeFileSync(path('fails'), '');
  writeFileSync(path('package-lock.json'), '{ }');
  const { code, output } = await setUp();
  expect([code, output]).toEqual([7, expect.stringContaining('npm could not install')]);
  // The packages of the previous lock file are still recorded, so npm is not called for them.
  writeFileSync(path('package-lock.json'), '{}');
  expect(await setUp()).toEqual({ code: 0, calls: [], output: '' });
});

test('on an old Node a start fails if the Node from npm does not run, and the next start tries again', async () => {
  const { path, setUp } = project();
  writeFileSync(path('preload.mjs'), pretend('20.0.0'));
  writeFileSync(path('bin/installed-node'), BROKEN_NODE);
  const { code, output, calls } = await setUp();
  expect([code, calls]).toEqual([1, ['ci']]);
  expect(output).toContain('cannot open shared object file');
  expect(output).toContain('apt-get install libatomic1');
  writeFileSync(path('bin/installed-node'), '#!/bin/sh');
  expect(await setUp()).toMatchObject({ code: 0, calls: ['ci'] });
});

test('on Windows the setup says what to use instead', async () => {
  const { path, setUp } = project();
  writeFileSync(
    path('preload.mjs'),
    `Object.defineProperty(process, 'platform', { value: 'win32' });`,
  );
  expect(await setUp()).toEqual({
    code: 1,
    calls: [],
    output: expect.stringMatching(/use WSL\.\n$/),
  });
});

test('two starts at the same time call npm once', async () => {
  const { setUp } = project();
  const both = await Promise.all([setUp(), setUp()]);
  expect(both.map(({ code }) => code)).toEqual([0, 0]);
  const installs = both.filter(({ output }) => output.includes('npm installs the packages'));
  expect(installs).toHaveLength(1);
});

test('a start waits for another start whose npm has ended, until that start has written its stamp', async () => {
  const { path, setUp } = project();
  await setUp();
  const stamp = path('node_modules/.setup-stamp');
  const stampText = readFileSync(stamp);
  rmSync(stamp);
  // This process plays the other start. The second number is the id of its npm, which has ended.
  writeFileSync(path('.setup.lock'), `${process.pid} ${NO_PROCESS}`);
  const { code, calls } = await setUp(() => {
    writeFileSync(stamp, stampText);
    rmSync(path('.setup.lock'));
  });
  expect({ code, calls }).toEqual({ code: 0, calls: [] });
});

test('a start installs the service’s packages, and keeps those that tests have added', async () => {
  const { path, setUp } = project();
  const args = () => readFileSync(path('args'), 'utf8');
  expect(await setUp()).toMatchObject({ code: 0, calls: ['ci'] });
  expect(args()).toContain('--omit=dev');
  expect(await setUp(undefined, 'all')).toMatchObject({ code: 0, calls: ['install'] });
  expect(args()).toContain('--include=dev --include=optional');
  expect((await setUp()).calls).toEqual([]);
  writeFileSync(path('package-lock.json'), '{ }');
  expect((await setUp()).calls).toEqual(['install']);
  expect(args()).toContain('--include=dev');
});
