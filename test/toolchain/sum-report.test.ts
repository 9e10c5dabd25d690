import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ownFolder } from '../support/own-folder.ts';

const script = join(import.meta.dirname, '..', '..', 'scripts', 'sum-report.ts');
const folder = ownFolder();

// Each row has the results of the tests in each file, then the line and the exit code.
test.each([
  ['all passed', [['passed', 'passed']], '2 passed, 0 failed\n', 0],
  ['one failed', [['passed', 'failed'], ['passed']], '2 passed, 1 failed\n', 1],
  // A run with skipped tests does not succeed, and stderr names them.
  ['some skipped', [['passed', 'skipped', 'todo']], '1 passed, 0 failed, 2 skipped\n', 1],
  // A file that cannot be read has no results, and counts as one failed test.
  ['a file that cannot be read', [['passed'], []], '1 passed, 1 failed\n', 1],
  ['no results', [], '0 passed, 0 failed\n', 1],
])('a run is summarized in one line: %s', (_, files: string[][], line, code) => {
  const testResults = files.map((statuses) => ({
    name: 'any.test.ts',
    status: statuses.includes('passed') && !statuses.includes('failed') ? 'passed' : 'failed',
    assertionResults: statuses.map((status) => ({ status, fullName: status, failureMessages: [] })),
  }));
  const success = testResults.every(({ status }) => status === 'passed');
  const report = join(folder.path, 'report.json');
  writeFileSync(report, JSON.stringify({ success, testResults }));
  const run = spawnSync(process.execPath, [script, report], { encoding: 'utf8' });
  expect(run).toMatchObject({ stdout: line, status: code });
  expect(run.stderr.includes('skipped: skipped')).toBe(files.flat().includes('skipped'));
});
