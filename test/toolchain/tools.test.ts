import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ownFolder } from '../support/own-folder.ts';

const root = join(import.meta.dirname, '..', '..');
const folder = ownFolder();

/** Runs a command on a machine that has only Node and an `apt-get` that installs every package. */
function runOnBareMachine(...args: readonly string[]) {
  const calls = join(folder.path, 'calls');
  writeFileSync(
    join(folder.path, 'apt-get'),
    `#!/bin/sh\necho "$@" >> '${calls}'\n: > "$SOMEWHERE/redis-server"\n`,
    { mode: 0o755 },
  );
  symlinkSync(process.execPath, join(folder.path, 'node'));
  symlinkSync('/usr/bin/env', join(folder.path, 'env'));
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: root,
    encoding: 'utf8',
    env: { PATH: folder.path, SOMEWHERE: folder.path },
  });
  const called = existsSync(calls) ? readFileSync(calls, 'utf8').split('\n').filter(Boolean) : [];
  return { status, stdout, stderr, called };
}

test('npm test installs nothing, skips suites whose program is missing, and ends with the command that installs it', () => {
  const suite = 'test/store/redis/copies.test.ts';
  const { status, stdout, called } = runOnBareMachine('scripts/run-script.ts', 'test', suite);
  expect({ status, called }).toEqual({ status: 0, called: [] });
  expect(stdout).toMatch(/copies\.test\.ts: \d+ without redis-server$/m);
  expect(stdout.trimEnd().split('\n').at(-1)).toBe(
    'Some tests were skipped without redis-server: npm run tools',
  );
});

test('npm run tools installs what is missing as root, and otherwise says what to install', () => {
  const { status, stderr, called } = runOnBareMachine('scripts/tools.ts');
  const isRoot = process.getuid?.() === 0;
  if (isRoot) {
    expect(status).toBe(0);
    expect(called).toContain('-y -qq install --no-install-recommends redis-server');
  } else {
    expect({ status, called }).toEqual({ status: 1, called: [] });
    expect(stderr).toMatch(/^redis-server is missing: .*; or set REDIS_SERVER_PATH$/m);
  }
});

test('npm run tools says so if every program is there', () => {
  const names = [
    'REDIS_SERVER',
    'HAPROXY',
    'DOCKER_COMPOSE',
    'CHROMIUM',
    'PROMTOOL',
    'ALERTMANAGER',
  ];
  const variables = [...names, 'JAVAC', 'MAVEN'].map((name) => [`${name}_PATH`, process.execPath]);
  const { status, stderr } = spawnSync(process.execPath, ['scripts/tools.ts'], {
    cwd: root,
    encoding: 'utf8',
    env: Object.fromEntries(variables),
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: 'No program is missing.\n' });
});

test('a project of any size passes the check of the sizes, which prints them', () => {
  const run = (command: string, ...args: readonly string[]) =>
    spawnSync(command, args, { cwd: folder.path, encoding: 'utf8' });
  writeFileSync(join(folder.path, 'package-lock.json'), '{ "packages": {} }');
  writeFileSync(join(folder.path, 'page.md'), 'word '.repeat(30_000));
  run('git', 'init', '--quiet');
  run('git', 'add', '.');
  const { status, stdout } = run(process.execPath, join(root, 'scripts/sizes.ts'));
  expect(status).toBe(0);
  expect(stdout).toMatch(/^ 30000 words of pages written by hand/m);
});
