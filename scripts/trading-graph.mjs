#!/usr/bin/env node
// The `trading-graph` command from a checkout, under any Node from 20 on: it installs what is
// missing and runs the program on the project's own Node.
import { spawn, spawnSync } from 'node:child_process';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

const setup = spawnSync(process.execPath, [join(root, 'scripts', 'setup.mjs')], {
  // The output belongs to the command, whose reader may be another program.
  stdio: ['ignore', 2, 2],
});
if (setup.status !== 0) process.exit(1);

const program = spawn(
  join(root, 'node_modules', '.run-node'),
  [join(root, 'src', 'cli', 'main.ts'), ...process.argv.slice(2)],
  { stdio: 'inherit' },
);

// A terminal sends Ctrl+C to the program as well, and for a service a second signal means "at once".
process.on('SIGINT', () => {
  if (!process.stdin.isTTY) program.kill('SIGINT');
});
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => program.kill(signal));

program.on('error', ({ message }) => {
  process.stderr.write(`${message}\n`);
  process.exit(1);
});
program.on('exit', (code, signal) => {
  process.exitCode = code ?? 128 + constants.signals[signal];
});
