// Brings the packages up to date, and hands over to the project's own Node. Plain JavaScript without dependencies: it
// has to run on a fresh clone, under any Node from 20 on.
import { spawn, spawnSync } from 'node:child_process';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Ends the process where that fails. `--all` brings in what tests and tools need as well. */
export function setUp(...args) {
  const setup = [join(root, 'scripts', 'setup.mjs'), ...args];
  // The output belongs to the command, whose reader may be another program.
  const { status } = spawnSync(process.execPath, setup, { stdio: ['ignore', 2, 2] });
  if (status !== 0) process.exit(1);
}

/** Resolves with the exit code of what runs on the project's own Node. */
export function runOnOwnNode(args, options = {}) {
  return run(join(root, 'node_modules', '.run-node'), args, options);
}

/** Resolves with the exit code of a program, which is told of the signals that this process receives. */
export function run(command, args, options = {}) {
  const program = spawn(command, args, { stdio: 'inherit', ...options });
  const pass = (signal) => {
    // A terminal sends Ctrl+C to the program as well, and for a service a second signal means "at once".
    if (signal !== 'SIGINT' || !process.stdin.isTTY) program.kill(signal);
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const signal of signals) process.on(signal, pass);
  return new Promise((resolve) => {
    program.on('error', ({ message }) => {
      process.stderr.write(`${message}\n`);
      resolve(1);
    });
    program.on('exit', (code, signal) => {
      for (const each of signals) process.off(each, pass);
      resolve(code ?? 128 + constants.signals[signal]);
    });
  });
}
