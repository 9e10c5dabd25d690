import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { compileCache } from '../../support/compile-cache.ts';

const MAIN = join(import.meta.dirname, '..', '..', '..', 'src', 'main.ts');
const ENVIRONMENT = { PORT: '0', ADMIN_PORT: '0', GATEWAY_URL: 'http://127.0.0.1:9' };

test('a file that cannot be used stops the start with one sentence', () => {
  const folder = mkdtempSync(join(tmpdir(), 'trading-graph-unusable-'));
  try {
    mkdirSync(join(folder, 'data'));
    writeFileSync(join(folder, 'data', 'orders.db'), 'my thesis\n'.repeat(100));
    const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN], {
      cwd: folder,
      env: { ...compileCache(), ...ENVIRONMENT },
      encoding: 'utf8',
      timeout: 150_000,
    });
    expect(status).toBe(1);
    const lines = `${stdout}${stderr}`.split('\n').filter((line) => line.includes('ORDER_STORE'));
    expect(lines).toEqual([
      expect.stringMatching(
        /^ORDER_STORE=.*is no database, or is damaged: restore it, or move it away/,
      ),
    ]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
