import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import {
  forgetRunningTests,
  keepRunningTestsIn,
  type RunningTests,
  readRunningTests,
} from './running-tests.ts';

export interface TestDeadlines {
  readonly runMs: number;
  /** How long after its own timeout a test may still be under way. */
  readonly graceMs: number;
  readonly lookMs: number;
}

/**
 * Ends what Vitest cannot end, and names it: a test whose loop never pauses, so that no timer of its process fires, and a run that takes too
 * long. Called where the run is configured, since reporters that are named on the command line replace configured ones.
 */
export function keepTestDeadlines({ runMs, graceMs, lookMs }: TestDeadlines): void {
  const folder = mkdtempSync(join(tmpdir(), 'running-tests-'));
  keepRunningTestsIn(folder);
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const endMs = Date.now() + runMs;
  const look = () => {
    const latestMs = Date.now() - graceMs;
    for (const running of readRunningTests(folder)) {
      const hanging = running.tests.filter(({ dueAtMs }) => dueAtMs < latestMs);
      if (hanging.length === 0) continue;
      say(`Ended, since it never pauses and is past its timeout:\n${describe(running, hanging)}`);
      // Vitest fails its file, and goes on with the others.
      kill(folder, running.pid);
    }
    if (Date.now() < endMs) return;
    const left = readRunningTests(folder);
    const names = left.map((running) => describe(running, running.tests));
    say(`The run is past its deadline of ${runMs / 60_000} min, with:\n${names.join('')}`);
    for (const { pid } of left) kill(folder, pid);
    process.exit(1);
  };
  setInterval(look, lookMs).unref();
}

function kill(folder: string, pid: number): void {
  forgetRunningTests(folder, pid);
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

function describe({ file }: RunningTests, tests: RunningTests['tests']): string {
  const path = relative(process.cwd(), file);
  return tests.length === 0
    ? `  ${path}: nothing, or what comes before or after its tests\n`
    : tests.map(({ name }) => `  ${path}: ${name}\n`).join('');
}

function say(text: string): void {
  process.stderr.write(`\n${text}`);
}
