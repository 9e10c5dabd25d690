import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const MODULE = join(import.meta.dirname, '..', '..', 'src', 'app', 'heap-limit.ts');

test.each([96, 512, 2_048])('a heap with an old space of %i MB has that limit', (oldMb) => {
  const script = `console.log((await import(${JSON.stringify(MODULE)})).oldHeapLimit() / 1024 ** 2)`;
  const flags = [`--max-old-space-size=${oldMb}`, '--input-type=module', '--eval', script];
  expect(Number(execFileSync(process.execPath, flags, { encoding: 'utf8' }))).toBe(oldMb);
});
