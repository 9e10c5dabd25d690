// Runs the suite, or the files that are named, several times beside busy loops, and prints what failed, how often: a test that
// waits for a clock fails here sooner or later. `npm run soak -- tests [--times 3] [--busy 4] [--all] [file or folder …]`
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

const LONGEST_MESSAGE = 300;

const root = join(import.meta.dirname, '..');
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    times: { type: 'string', default: '3' },
    busy: { type: 'string', default: '4' },
    /** The long suites too. */
    all: { type: 'boolean', default: false },
  },
});
const times = wholeNumber('times', values.times, 1);
const busy = wholeNumber('busy', values.busy, 0);

const failures = new Map<string, { count: number; message: string }>();
const folder = mkdtempSync(join(tmpdir(), 'repeat-tests-'));
const loops = Array.from({ length: busy }, startBusyLoop);
let redRuns = 0;
try {
  for (let run = 1; run <= times; run += 1) {
    const startedAtMs = Date.now();
    const isGreen = await runOnce(join(folder, `${run}.json`));
    if (!isGreen) redRuns += 1;
    const seconds = Math.round((Date.now() - startedAtMs) / 1_000);
    console.log(`run ${run} of ${times}: ${isGreen ? 'green' : 'RED'}, ${seconds} s`);
  }
} finally {
  for (const loop of loops) loop.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}
console.log(`${times - redRuns} of ${times} runs were green, beside ${busy} busy loops.`);
for (const [name, { count, message }] of [...failures].sort(([, a], [, b]) => b.count - a.count)) {
  console.log(`${count} × ${name}\n    ${message}`);
}
process.exitCode = redRuns === 0 ? 0 : 1;

async function runOnce(report: string): Promise<boolean> {
  const args = ['test', '--silent', '--', '--reporter=dot', '--reporter=json'];
  const child = spawn('npm', [...args, `--outputFile.json=${report}`, ...positionals], {
    cwd: root,
    env: { ...process.env, ...(values.all && { CI: 'true' }) },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = await once(child, 'close');
  if (code !== 0) count(report, code);
  return code === 0;
}

function count(report: string, code: number | null): void {
  const failed = failedTests(report);
  // A file that hung, for one, is in no report; what ended it is on stderr.
  if (failed.length === 0) failed.push([`no report names what failed (exit code ${code})`, '']);
  for (const [name, message] of failed) {
    const before = failures.get(name)?.count ?? 0;
    failures.set(name, { count: before + 1, message: message.slice(0, LONGEST_MESSAGE) });
  }
}

function failedTests(report: string): [name: string, message: string][] {
  let results: Report['testResults'];
  try {
    results = (JSON.parse(readFileSync(report, 'utf8')) as Report).testResults;
  } catch {
    return [];
  }
  return results.flatMap(({ name, status, message, assertionResults }) => {
    const file = relative(root, name);
    const failed = assertionResults.filter((one) => one.status === 'failed');
    if (status === 'failed' && failed.length === 0) return [[file, message] as [string, string]];
    return failed.map(({ fullName, failureMessages }): [string, string] => [
      `${file}: ${fullName}`,
      failureMessages.join('\n'),
    ]);
  });
}

/** It ends by itself where this process is killed. */
function startBusyLoop(): ChildProcess {
  const loop =
    'const parent = process.ppid; for (;;) { const end = Date.now() + 1_000; while (Date.now() < end); if (process.ppid !== parent) process.exit(); }';
  return spawn(process.execPath, ['-e', loop], { stdio: 'ignore' });
}

function wholeNumber(name: string, text: string, least: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= least) return value;
  console.error(`--${name} takes a whole number from ${least}`);
  process.exit(2);
}
