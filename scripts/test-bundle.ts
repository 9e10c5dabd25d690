/**
 * Runs tests that start the service as a process against the image's bundle instead of the sources:
 * `npm run test:bundle -- [files]`.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildBundle } from '../bench/support/bundle.ts';

const FRONT_DOOR = [
  'test/end-to-end/chaos/event-loop.test.ts',
  'test/end-to-end/identity/secrets.test.ts',
  'test/end-to-end/orders/shutdown.test.ts',
  'test/end-to-end/start/start.test.ts',
  'test/end-to-end/transports/shutdown-slices.test.ts',
  'test/end-to-end/transports/shutdown.test.ts',
];

const given = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'test-bundle-'));
try {
  const vitest = join(import.meta.dirname, '..', 'node_modules', 'vitest', 'vitest.mjs');
  const { status } = spawnSync(
    process.execPath,
    [vitest, 'run', ...(given.length > 0 ? given : FRONT_DOOR)],
    { stdio: 'inherit', env: { ...process.env, TEST_PROGRAM: buildBundle(folder) } },
  );
  process.exitCode = status ?? 1;
} finally {
  rmSync(folder, { recursive: true });
}
