import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { STAGES } from '../../bench/support/ledger-stages.ts';

const root = join(import.meta.dirname, '../..');

test('each stage of a request can be left out, and has its row', async () => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [join(root, 'bench/ledger.ts'), '--quick', '--rounds', '1'],
    { timeout: 110_000 },
  );
  for (const { name } of STAGES) expect(stdout).toMatch(new RegExp(`\\| ${name} \\| -?\\d`));
}, 120_000);
