#!/usr/bin/env node
// The `trading-graph` command from a checkout, under any Node from 20 on: it installs what is
// missing and runs the program on the project's own Node.
import { join } from 'node:path';
import { root, runOnOwnNode, setUp } from './hand-over.mjs';

if (root.includes('/node_modules/')) {
  console.error(
    'This is a checkout of trading-graph and no package of it: run `npm run bundle -- package` in a clone, and install what it writes.',
  );
  process.exit(1);
}
setUp();
process.exitCode = await runOnOwnNode([
  join(root, 'src', 'cli', 'main.ts'),
  ...process.argv.slice(2),
]);
