import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** What Vitest writes with `--reporter=json`. */
interface TestReport {
  readonly success: boolean;
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

const root = join(import.meta.dirname, '..');

export function readReport(path: string): TestReport {
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
      failureMessages.join('\n'),
    ]);
  });
}
