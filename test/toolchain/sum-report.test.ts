import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

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
  expect(sumOf([files])).toEqual({ stdout: line, status: code });
});

describe('failed files that were run again alone', () => {
  const first = [['passed', 'failed'], ['passed'], ['failed']];

  test('count by that run, and are named where they passed', () => {
    expect(sumOf([first, [['passed', 'passed'], null, ['passed']]])).toEqual({
      stdout: 'Passed only when run again, alone: file 0, file 2\n4 passed, 0 failed\n',
      status: 0,
    });
    expect(sumOf([first, [['passed', 'passed'], null, ['failed']]])).toEqual({
      stdout: 'Passed only when run again, alone: file 0\n3 passed, 1 failed\n',
      status: 1,
    });
  });

  test('are failures where that run did not come to them', () => {
    expect(sumOf([first, [['passed', 'passed']]])).toMatchObject({ status: 1 });
  });

  test('are six at most', () => {
    expect(sumOf([first], ['--failed']).stdout).toBe('file 0\nfile 2\n');
    const many = Array.from({ length: 7 }, () => ['failed']);
    expect(sumOf([many], ['--failed']).stdout).toBe('');
  });
});

/** The statuses of the tests of each file; null for one that is not in the report. */
type Files = readonly (readonly string[] | null)[];

function sumOf(runs: readonly Files[], flags: readonly string[] = []) {
  const folder = mkdtempSync(join(tmpdir(), 'report-'));
  try {
    const reports = runs.map((files, run) => {
      const report = join(folder, `${run}.json`);
      const testResults = files.flatMap((statuses, at) =>
        statuses === null
          ? []
          : {
              name: `file ${at}`,
              status:
                statuses.includes('passed') && !statuses.includes('failed') ? 'passed' : 'failed',
              assertionResults: statuses.map((status) => ({ status })),
            },
      );
      const success = testResults.every(({ status }) => status === 'passed');
      writeFileSync(report, JSON.stringify({ success, testResults }));
      return report;
    });
    const args = [script, ...flags, ...reports];
    const { stdout, status } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    return { stdout, status };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
