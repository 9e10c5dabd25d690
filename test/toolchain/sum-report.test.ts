import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const script = join(import.meta.dirname, '..', '..', 'scripts', 'sum-report.ts');

test.each([
  ['all passed', [['passed', 'passed']], '2 passed, 0 failed\n', 0],
  ['one failed', [['passed', 'failed'], ['passed']], '2 passed, 1 failed\n', 1],
  [
    'some skipped',
    [['passed', 'skipped', 'pending', 'todo']],
    '1 passed, 0 failed, 3 skipped\n',
    1,
  ],
  ['a file that cannot be read', [['passed'], []], '1 passed, 1 failed\n', 1],
  [
    'a suite whose preparation fails',
    [['passed'], ['skipped']],
    '1 passed, 1 failed, 1 skipped\n',
    1,
  ],
  ['nothing at all', [], '0 passed, 0 failed\n', 1],
])('a run is summed up in one line: %s', (_, files, line, code) => {
  expect(sumOf(files)).toEqual({ stdout: line, status: code });
});

function sumOf(files: readonly (readonly string[])[]) {
  const folder = mkdtempSync(join(tmpdir(), 'report-'));
  try {
    const report = join(folder, 'report.json');
    const testResults = files.map((statuses) => ({
      status: statuses.includes('passed') && !statuses.includes('failed') ? 'passed' : 'failed',
      assertionResults: statuses.map((status) => ({ status })),
    }));
    const success = testResults.every(({ status }) => status === 'passed');
    writeFileSync(report, JSON.stringify({ success, testResults }));
    const { stdout, status } = spawnSync(process.execPath, [script, report], { encoding: 'utf8' });
    return { stdout, status };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
