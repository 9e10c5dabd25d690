import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { JsonTestResults } from 'vitest/node';

const root = join(import.meta.dirname, '..');

/** What Vitest writes with `--reporter=json`. */
export function readReport(path: string): JsonTestResults {
  return JSON.parse(readFileSync(path, 'utf8'));
}

/** Each failed test with its messages. A file that cannot even be read has none: it counts as one itself. */
export function failuresIn(path: string): [name: string, message: string][] {
  return readReport(path).testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = relative(root, name);
    const failed = assertionResults.filter((one) => one.status === 'failed');
    if (status === 'failed' && failed.length === 0) return [[file, message]];
    return failed.map(({ fullName, failureMessages }): [string, string] => [
      `${file}: ${fullName}`,
      failureMessages?.join('\n') ?? '',
    ]);
  });
}
