import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');

function run(files: number, ...command: string[]) {
  return spawnSync(
    'sh',
    ['-c', `ulimit -n ${files}; exec "$@"`, 'sh', process.execPath, ...command],
    {
      cwd: ROOT,
      env: { ...process.env, ORDER_STORE: 'memory', PORT: '0', ADMIN_PORT: '0' },
      encoding: 'utf8',
      timeout: 60_000,
    },
  );
}

test('a low limit of open files is a warning of the check, which --strict fails for, and too low a one stops a start', () => {
  const check = ['src/cli/main.ts', 'check'];
  const { status, stdout } = run(512, ...check);
  expect(stdout).toContain('Open files: the limit of 512 (ulimit -n)');
  expect(stdout).toMatch(/\nNo problem, 1 warning\.\n$/);
  expect([status, run(512, ...check, '--strict').status]).toEqual([0, 1]);
  const start = run(400, 'src/main.ts');
  expect(start.status).toBe(78);
  expect(start.stderr).toContain('no room for 64 connections beside GATEWAY_CONNECTIONS=128');
});
