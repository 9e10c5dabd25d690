import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const FILES = {
  'package.json': '{"type":"module"}',
  'vitest.config.ts': `
import { keepTestDeadlines } from './test/support/test-deadlines.ts';
keepTestDeadlines({ runMs: 600_000, graceMs: 100, lookMs: 50 });
export default { test: { setupFiles: ['test/support/note-tests.ts'], experimental: { viteModuleRunner: false } } };
`,
  'test/passes.test.ts': `
import { test } from 'vitest';
test('passes', () => {});
`,
  'test/hangs.test.ts': `
import { test } from 'vitest';
test('ends', () => {});
test('never pauses', async () => { for (;;) await null; }, 100);
`,
};

test('a test that never pauses is ended and named, and the other files are run', () => {
  const folder = mkdtempSync(join(tmpdir(), 'small-project-'));
  mkdirSync(join(folder, 'test'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  cpSync(join(root, 'test', 'support'), join(folder, 'test', 'support'), {
    recursive: true,
    filter: (path) => !path.endsWith('.test.ts'),
  });
  for (const [path, text] of Object.entries(FILES)) writeFileSync(join(folder, path), text);
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const { stdout, stderr, status } = spawnSync(process.execPath, [vitest, 'run'], {
    cwd: folder,
    env: { PATH: process.env.PATH, NO_COLOR: '1' },
    encoding: 'utf8',
  });
  rmSync(folder, { recursive: true });
  expect(stderr).toContain(
    'Ended, since it never pauses and is past its timeout:\n  test/hangs.test.ts: never pauses\n',
  );
  expect(stdout).toMatch(/✓ test\/passes\.test\.ts/);
  expect(status).toBe(1);
});
