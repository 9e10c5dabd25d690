// Prints one line about a test run from its JSON report. A run succeeds only if all of its tests have passed.
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { JsonTestResults } from 'vitest/node';

const root = join(import.meta.dirname, '..');

/** Each failed test with its messages. A file that cannot be read has no tests, so it counts as a failed test. */
export function failuresIn(path: string): [name: string, message: string][] {
  return readReport(path).testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = relative(root, name);
    const failed = assertionResults.filter((result) => result.status === 'failed');
    if (status === 'failed' && failed.length === 0) return [[file, message]];
    return failed.map(({ fullName, failureMessages }): [string, string] => [
      `${file}: ${fullName}`,
      failureMessages?.join('\n') ?? '',
    ]);
  });
}

function readReport(path: string): JsonTestResults {
  return JSON.parse(readFileSync(path, 'utf8'));
}

if (import.meta.main) {
  const [, , file = '.test-report.json'] = process.argv;
  const { success, testResults } = readReport(file);
  const results = testResults.flatMap(({ assertionResults }) => assertionResults);
  const failed = failuresIn(file).length;
  const passed = results.filter(({ status }) => status === 'passed').length;
  const skippedTests = results.filter(({ status }) => status !== 'passed' && status !== 'failed');
  for (const { fullName } of skippedTests) console.error(`skipped: ${fullName}`);
  const skipped = skippedTests.length;
  console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
  const isGreen = success && passed > 0 && failed === 0 && skipped === 0;
  process.exitCode = isGreen ? 0 : 1;
}
