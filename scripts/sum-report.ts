// Prints one line about a test run from its JSON report; anything but all passed is a failure.
import { readFileSync } from 'node:fs';

interface Report {
  readonly success: boolean;
  readonly testResults: readonly {
    readonly status: string;
    readonly assertionResults: readonly { readonly status: string }[];
  }[];
}

const [file = '.test-report.json'] = process.argv.slice(2);
const report = JSON.parse(readFileSync(file, 'utf8')) as Report;

const sum = { passed: 0, failed: 0, skipped: 0 };
for (const { status, assertionResults } of report.testResults) {
  // A file that cannot even be read holds no tests to count.
  const isBroken = status === 'failed' && assertionResults.every((one) => one.status !== 'failed');
  if (isBroken) sum.failed += 1;
  for (const one of assertionResults) {
    if (one.status === 'passed' || one.status === 'failed') sum[one.status] += 1;
    else sum.skipped += 1;
  }
}
const skipped = sum.skipped > 0 ? `, ${sum.skipped} skipped` : '';
console.log(`${sum.passed} passed, ${sum.failed} failed${skipped}`);
const isGreen = report.success && sum.passed > 0 && sum.failed === 0 && sum.skipped === 0;
process.exitCode = isGreen ? 0 : 1;
