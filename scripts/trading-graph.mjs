#!/usr/bin/env node
// The `trading-graph` command from a checkout, under any Node from 20 on: it installs what is
// missing and runs the program on the project's own Node.
import { join } from 'node:path';
import { root, runOnOwnNode, setUp } from './hand-over.mjs';

setUp();
process.exitCode = await runOnOwnNode([
  join(root, 'src', 'cli', 'main.ts'),
  ...process.argv.slice(2),
]);
