import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a worker's process runs. It is kept in a file, which can be read while a loop without a pause keeps that process busy. */
export interface RunningTests {
  readonly pid: number;
  readonly file: string;
  /** The tests under way, with the time by which Vitest itself ends each; none while the file is loaded, or between two tests. */
  readonly tests: readonly { readonly name: string; readonly dueAtMs: number }[];
}

const FOLDER = 'TEST_RUN_FOLDER';

/** Workers inherit the name of the folder with the environment. */
export function keepRunningTestsIn(folder: string): void {
  process.env[FOLDER] = folder;
}

export function noteRunningTests(file: string, tests: RunningTests['tests']): void {
  const folder = process.env[FOLDER];
  if (folder === undefined) return;
  const running: RunningTests = { pid: process.pid, file, tests };
  writeFileSync(join(folder, `${process.pid}.json`), JSON.stringify(running));
}

export function readRunningTests(folder: string): readonly RunningTests[] {
  return readdirSync(folder).flatMap((name) => {
    try {
      return [JSON.parse(readFileSync(join(folder, name), 'utf8')) as RunningTests];
    } catch {
      // Its process writes it in this moment, or has ended.
      return [];
    }
  });
}

export function forgetRunningTests(folder: string, pid: number): void {
  rmSync(join(folder, `${pid}.json`), { force: true });
}
