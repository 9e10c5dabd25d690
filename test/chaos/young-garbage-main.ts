import { getHeapSpaceStatistics } from 'node:v8';
import { startApp } from '../../src/app.ts';
import { readConfig } from '../../src/config.ts';
import { createLog } from '../../src/lib/log.ts';

// The program in a process of its own, whose garbage its parent has collected when it likes.
const log = createLog({ level: 'error', format: 'json', destination: process.stderr });
const { url } = await startApp(readConfig(process.env), { log });
process.on('message', () => {
  globalThis.gc?.({ type: 'minor' });
  process.send?.(oldBytes());
});
process.once('disconnect', () => process.exit());
process.send?.(url);

/** What has outlived two minor collections, whether or not anybody still needs it. */
function oldBytes(): number {
  return getHeapSpaceStatistics()
    .filter(({ space_name }) => space_name === 'old_space' || space_name === 'large_object_space')
    .reduce((sum, { space_used_size }) => sum + space_used_size, 0);
}
