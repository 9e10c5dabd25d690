import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LONG_SUITES } from '../support/long-suites.ts';

const root = join(import.meta.dirname, '..', '..');
const missing = {
  REDIS_SERVER_PATH: '/none',
  CHROMIUM_PATH: '/none',
  PROMTOOL_PATH: '/none',
  HAPROXY_PATH: '/none',
};

const SUITES = `
import { expect, test } from 'vitest';
import { describeWithChromium, describeWithRedis } from './support/describe-with.ts';
describeWithRedis('a shared store', (path) => {
  test('is shared', () => expect(path).toMatch(/redis/));
});
describeWithChromium('a page', () => {
  test('is shown', () => {});
});
test('needs nothing', () => {});
`;

test('a suite whose program is missing is skipped by its name, with the reason', () => {
  const folder = mkdtempSync(join(tmpdir(), 'machine-'));
  try {
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    mkdirSync(join(folder, 'test'));
    cpSync(join(root, 'vitest.config.ts'), join(folder, 'vitest.config.ts'));
    cpSync(join(root, 'test', 'support'), join(folder, 'test', 'support'), { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    writeFileSync(join(folder, 'test', 'suites.test.ts'), SUITES);
    const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
    const { stdout, status } = spawnSync(process.execPath, [vitest, 'run'], {
      cwd: folder,
      env: { PATH: process.env.PATH, NO_COLOR: '1', ...missing },
      encoding: 'utf8',
    });
    expect(stdout).toContain(
      [
        'Skipped here:',
        '  test/suites.test.ts: a shared store (no redis-server here) > is shared',
        '  test/suites.test.ts: a page (no Chromium here) > is shown',
      ].join('\n'),
    );
    expect(status).toBe(0);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a missing program is reported before the tests run', () => {
  const { stderr, status } = spawnSync(process.execPath, [join(root, 'scripts', 'test-tools.ts')], {
    env: { ...process.env, ...missing, CI: 'true' },
    encoding: 'utf8',
  });
  expect(stderr.split('\n')).toEqual([
    'redis-server is not here (REDIS_SERVER_PATH names no program): the tests that need it are skipped.',
    'haproxy is not here (HAPROXY_PATH names no program): the tests that need it are skipped.',
    'chromium is not here (CHROMIUM_PATH names no program): the tests that need it are skipped.',
    'prometheus is not here (PROMTOOL_PATH names no program): the tests that need it are skipped.',
    '',
  ]);
  expect(status).toBe(0);
});

test('the suites that are left out are named, but not where everything runs', () => {
  const said = (CI: string) =>
    spawnSync(process.execPath, [join(root, 'scripts', 'test-tools.ts')], {
      env: { ...process.env, ...missing, CI },
      encoding: 'utf8',
    }).stderr;
  for (const suite of LONG_SUITES) {
    expect(said('')).toContain(suite);
    expect(said('true')).not.toContain(suite);
  }
});
