import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MISSING, SmallProject } from './small-project.ts';

const root = join(import.meta.dirname, '..', '..');
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
  using project = new SmallProject({ 'suites.test.ts': SUITES });
  const { stdout, status } = project.run();
  expect(stdout).toContain(
    [
      'Skipped here:',
      '  test/suites.test.ts: a shared store (no redis-server here) > is shared',
      '  test/suites.test.ts: a page (no Chromium here) > is shown',
    ].join('\n'),
  );
  expect(status).toBe(0);
});

test('a missing program is reported before the tests run', () => {
  const { stderr, status } = spawnSync(process.execPath, [join(root, 'scripts', 'test-tools.ts')], {
    env: { ...process.env, ...MISSING, CI: 'true' },
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
