import { describe, expect, test } from 'vitest';
import { SmallProject } from './small-project.ts';

const PASSES = `
import { test } from 'vitest';
test('passes', () => {});
`;
const NEVER_PAUSES = `
import { test } from 'vitest';
test('ends', () => {});
test('never pauses', async () => { for (;;) await null; }, 100);
`;
const NEVER_PAUSES_BEFORE_ITS_TESTS = `
import { writeFileSync } from 'node:fs';
import { beforeAll, test } from 'vitest';
writeFileSync('began', '');
beforeAll(async () => { for (;;) await null; });
test('never starts', () => {});
`;

const withDeadlines = (deadlines: string) => `
import { keepTestDeadlines } from './test/support/test-deadlines.ts';
keepTestDeadlines(${deadlines});
export default { test: { setupFiles: ['test/support/note-tests.ts'], experimental: { viteModuleRunner: false } } };
`;

/** Once the file has begun, an hour has passed. */
const AN_HOUR_LATER = `
import { existsSync } from 'node:fs';
const now = Date.now;
Date.now = () => now() + (existsSync('began') ? 3_600_000 : 0);
`;

describe('a test that never pauses', () => {
  test('is ended and named, and the other files are run', () => {
    using project = new SmallProject(
      { 'hangs.test.ts': NEVER_PAUSES, 'passes.test.ts': PASSES },
      withDeadlines('{ runMs: 600_000, graceMs: 100, lookMs: 50 }'),
    );
    const { stdout, stderr, status } = project.run();
    expect(stderr).toContain(
      'Ended, since it never pauses and is past its timeout:\n  test/hangs.test.ts: never pauses\n',
    );
    expect(stdout).toMatch(/✓ test\/passes\.test\.ts/);
    expect(status).toBe(1);
  });

  test('is named at the deadline of the run, wherever it is', () => {
    using project = new SmallProject(
      { 'hangs.test.ts': NEVER_PAUSES_BEFORE_ITS_TESTS },
      AN_HOUR_LATER + withDeadlines('{ runMs: 1_800_000, graceMs: 600_000, lookMs: 50 }'),
    );
    const { stderr, status } = project.run();
    expect(stderr).toContain(
      'The run is past its deadline of 30 min, with:\n  test/hangs.test.ts: nothing, or what comes before or after its tests\n',
    );
    expect(status).toBe(1);
  });
});

describe('a long suite', () => {
  const LONG = 'end-to-end/chaos/long.test.ts';
  const BESIDE_OTHERS = 'store/sqlite/order-file-damage.test.ts';
  // It has the name of Vitest's command in its own.
  const OTHER = 'store/sqlite/other-run.test.ts';
  const files = { [LONG]: PASSES, [BESIDE_OTHERS]: PASSES, [OTHER]: PASSES };
  const PATTERN = 'test/end-to-end/chaos/**/*.test.ts';

  test.each([
    ['is left out where nothing is named', [], { ran: [OTHER], leftOut: PATTERN }],
    ['is run by its name', [`test/${LONG}`], { ran: [LONG] }],
    [
      'is left out of a folder that has others',
      ['test/store/'],
      { ran: [OTHER], leftOut: `test/${BESIDE_OTHERS}\n` },
    ],
  ])('%s', (_, args, { ran, leftOut = '' }: { ran: string[]; leftOut?: string }) => {
    using project = new SmallProject(files);
    const { stdout, stderr, status } = project.run(args);
    const passed = [...stdout.matchAll(/✓ .*?test\/(\S+\.test\.ts)/g)].map(([, file]) => file);
    expect(passed.sort()).toEqual(ran);
    expect(stderr.includes('Left out here')).toBe(leftOut !== '');
    expect(stderr).toContain(leftOut);
    expect(status).toBe(0);
  });
});
