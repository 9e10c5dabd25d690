// Prints one line about a test run from its JSON report; anything but all passed is a failure.
import { failuresIn, readReport } from './test-report.ts';

const [file = '.test-report.json'] = process.argv.slice(2);
const { success, testResults } = readReport(file);
const results = testResults.flatMap(({ assertionResults }) => assertionResults);
const failed = failuresIn(file).length;
const passed = results.filter(({ status }) => status === 'passed').length;
const skipped = results.filter(({ status }) => status !== 'passed' && status !== 'failed').length;
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exitCode = success && passed > 0 && failed === 0 && skipped === 0 ? 0 : 1;
