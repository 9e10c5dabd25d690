import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cacheBudgets, withDefaults } from '../../src/app/app-options.ts';
import { oldHeapLimit } from '../../src/app/heap-limit.ts';
import { openFilesLimit } from '../../src/app/max-connections.ts';
import { readConfig } from '../../src/config.ts';
import { createLog } from '../../src/lib/log.ts';

const log = createLog({ level: 'error', destination: { write() {} } });
const source = join(import.meta.dirname, '..', '..', 'src');

/** Runs a module in a process that may have `files` open files, and returns its output. */
function runWith(files: number, module: string): string {
  const command = `ulimit -n ${files} && exec "$0" --input-type=module -e "$1"`;
  return execFileSync('sh', ['-c', command, process.execPath, module], { encoding: 'utf8' }).trim();
}

test('the maximum of connections leaves some open files for the store and the gateway', async () => {
  const module = `
    import { readConfig } from '${source}/config.ts';
    import { withDefaults } from '${source}/app/app-options.ts';
    const config = readConfig({ SANDBOX: 'on', GATEWAY_CONNECTIONS: '100' });
    console.log(withDefaults(config, { log: null }).connections.most);`;
  // 256 files are left for the store and others, and a file for each connection to the gateway: 128 by default.
  expect(runWith(1_000, module)).toBe(String(1_000 - 256 - 100));
  const config = readConfig({ SANDBOX: 'on' });
  const { most } = withDefaults(config, { log }).connections;
  expect(most).toBe(Math.min(20_000, openFilesLimit() - 256 - 128));
});

const sum = (budgets: object) => Object.values(budgets).reduce((all, bytes) => all + bytes, 0);

test('the budgets of the caches together are half of the heap', async () => {
  expect(sum(cacheBudgets(100_000_000))).toBe(100_000_000);
  const { cacheBytes } = withDefaults(readConfig({}), { log });
  expect(sum(cacheBytes) / oldHeapLimit()).toBeCloseTo(0.5);
});
