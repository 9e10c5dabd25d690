// Prints one line about a test run from its JSON report; anything but all passed is a failure. With a second report, of
// the failed files run again alone, its results count for these files, and a line before names those that passed only then.
// `--failed` prints the failed files instead, where they are few.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

interface FileResult {
  readonly name: string;
  readonly status: string;
  readonly message: string;
  readonly assertionResults: readonly { readonly status: string }[];
}

interface Report {
  readonly success: boolean;
  readonly testResults: readonly FileResult[];
}

// More of them are no busy machine.
const MOST_AGAIN = 6;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { failed: { type: 'boolean', default: false } },
});
const [first = read('.test-report.json'), again] = positionals.map(read);
const failed = first.testResults.filter(({ status }) => status === 'failed');
if (values.failed) {
  if (failed.length <= MOST_AGAIN) for (const { name } of failed) console.log(name);
} else {
  sumUp();
}

function sumUp(): void {
  const second = new Map(again?.testResults.map((result) => [result.name, result]));
  const results = first.testResults.map((result) =>
    result.status === 'failed' ? (second.get(result.name) ?? result) : result,
  );
  const sum = { passed: 0, failed: 0, skipped: 0 };
  for (const { status, assertionResults } of results) {
    // A file that cannot even be read holds no tests to count.
    const isBroken =
      status === 'failed' && assertionResults.every((one) => one.status !== 'failed');
    if (isBroken) sum.failed += 1;
    for (const one of assertionResults) {
      if (one.status === 'passed' || one.status === 'failed') sum[one.status] += 1;
      else sum.skipped += 1;
    }
  }
  const alone = failed.filter(({ name }) => second.get(name)?.status === 'passed');
  if (alone.length > 0) {
    console.log(`Passed only when run again, alone: ${alone.map(({ name }) => name).join(', ')}`);
  }
  const skipped = sum.skipped > 0 ? `, ${sum.skipped} skipped` : '';
  console.log(`${sum.passed} passed, ${sum.failed} failed${skipped}`);
  const isWhole = again === undefined ? first.success : again.success;
  const isGreen = isWhole && sum.passed > 0 && sum.failed === 0 && sum.skipped === 0;
  process.exitCode = isGreen ? 0 : 1;
}

function read(file: string): Report {
  return JSON.parse(readFileSync(file, 'utf8')) as Report;
}
