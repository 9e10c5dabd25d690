// Runs the suite, or the named files, several times while busy loops run, and prints how often each test has failed: a test
// that depends on time fails here sooner or later.
// `npm run soak -- tests [--times 3] [--busy 4] [--all] [file or folder …]`
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempDisposableSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { failuresIn } from './sum-report.ts';

const MAX_MESSAGE_LENGTH = 300;
/** The loop ends after this process has ended, in any way. */
const BUSY_LOOP =
  'const parent = process.ppid; for (;;) { const end = Date.now() + 1_000; while (Date.now() < end); if (process.ppid !== parent) process.exit(); }';

const root = join(import.meta.dirname, '..');
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    times: { type: 'string', default: '3' },
    busy: { type: 'string', default: '4' },
    /** Runs the long suites too. */
    all: { type: 'boolean', default: false },
  },
});
const { times, busy, all } = values;

const counts = new Map<string, { count: number; message: string }>();
using folder = mkdtempDisposableSync(join(tmpdir(), 'repeat-tests-'));
for (let loop = 0; loop < Number(busy); loop += 1) {
  spawn(process.execPath, ['-e', BUSY_LOOP], { stdio: 'ignore' }).unref();
}
let green = 0;
for (let run = 1; run <= Number(times); run += 1) {
  const startedAtMs = Date.now();
  const isGreen = await runOnce(join(folder.path, `${run}.json`));
  if (isGreen) green += 1;
  const seconds = Math.round((Date.now() - startedAtMs) / 1_000);
  console.log(`run ${run} of ${times}: ${isGreen ? 'green' : 'RED'}, ${seconds} s`);
}
console.log(`${green} of ${times} runs were green, with ${busy} busy loops.`);
for (const [name, { count, message }] of [...counts].sort(([, a], [, b]) => b.count - a.count)) {
  console.log(`${count} × ${name}\n    ${message}`);
}
process.exitCode = green === Number(times) ? 0 : 1;

async function runOnce(report: string): Promise<boolean> {
  const args = ['test', '--silent', '--', '--reporter=dot', '--reporter=json'];
  const child = spawn('npm', [...args, `--outputFile.json=${report}`, ...positionals], {
    cwd: root,
    env: { ...process.env, ...(all && { CI: 'true' }) },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = await once(child, 'close');
  if (code === 0) return true;
  const failures = existsSync(report) ? failuresIn(report) : [];
  // A file that hung is in no report; the reason is on stderr.
  if (failures.length === 0) failures.push([`no report names what failed (exit code ${code})`, '']);
  for (const [name, message] of failures) {
    const count = (counts.get(name)?.count ?? 0) + 1;
    counts.set(name, { count, message: message.slice(0, MAX_MESSAGE_LENGTH) });
  }
  return false;
}
