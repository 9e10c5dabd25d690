import { getHeapSpaceStatistics } from 'node:v8';
import { startApp } from '../../../src/app.ts';
import { readConfig } from '../../../src/config.ts';
import { createLog } from '../../../src/lib/log.ts';

// Runs the program in a process of its own, in which the parent triggers garbage collections.
const log = createLog({ level: 'error', format: 'json', destination: process.stderr });
const { url } = await startApp(readConfig(process.env), { log });
process.on('message', () => {
  globalThis.gc?.({ type: 'minor' });
  process.send?.(oldBytes());
});
process.once('disconnect', () => process.exit());
process.send?.(url);

/** The bytes that have survived two minor collections, reachable or not. */
function oldBytes(): number {
  return getHeapSpaceStatistics()
    .filter(({ space_name }) => space_name === 'old_space' || space_name === 'large_object_space')
    .reduce((sum, { space_used_size }) => sum + space_used_size, 0);
}
