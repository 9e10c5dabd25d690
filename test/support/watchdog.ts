import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, expect } from 'vitest';

/**
 * A thread that ends the process if a loop has blocked it for too long, and names the running tests. In a blocked process no
 * timer fires, so Vitest cannot end the tests itself. After the process has ended, Vitest continues with the other files.
 */
const WATCH = `
const { parentPort } = require('node:worker_threads');
const MAX_MS = 10 * 60_000;
let lastMs = performance.now();
let running = [];
parentPort.on('message', (names) => {
  lastMs = performance.now();
  running = names;
});
setInterval(() => {
  if (performance.now() - lastMs < MAX_MS) return;
  require('node:fs').writeSync(2, 'Ended, since it never pauses: ' + running.join(', ') + '\\n');
  process.kill(process.pid, 'SIGKILL');
}, 2_000);
`;
const ALIVE_MS = 5_000;

// Vitest runs this before each test file; the files of one process share the thread.
const shared = globalThis as typeof globalThis & { watchdog?: ReturnType<typeof startWatchdog> };
shared.watchdog ??= startWatchdog();
const { running, note } = shared.watchdog;

running.clear();
running.set('file', expect.getState().testPath ?? '');
note();
beforeEach(({ task }) => {
  running.set(task.id, task.name);
  note();
});
afterEach(({ task }) => void running.delete(task.id));

function startWatchdog() {
  const thread = new Worker(WATCH, { eval: true });
  thread.unref();
  const running = new Map<string, string>();
  const note = () => thread.postMessage([...running.values()]);
  setInterval(note, ALIVE_MS).unref();
  return { running, note };
}
