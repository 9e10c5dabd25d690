import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readPlainFile } from '../../src/lib/read-plain-file.ts';

test.each([0, 1, 100_000])(
  'a file of exactly the maximum of %i bytes is read; a larger one is refused',
  async (bytes) => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'plain-file-'));
    const path = join(folder.path, 'file');
    await writeFile(path, 'x'.repeat(bytes));
    expect(await readPlainFile(path, bytes)).toBe('x'.repeat(bytes));
    await writeFile(path, 'x'.repeat(bytes + 1));
    await expect(readPlainFile(path, bytes)).rejects.toThrow(`it is larger than ${bytes} bytes`);
  },
);

test.runIf(process.platform === 'linux')('a file that reports no size is read whole', async () => {
  expect(await readPlainFile('/proc/self/status', 100_000)).toContain('VmSize');
  await expect(readPlainFile('/proc/self/status', 10)).rejects.toThrow('larger than 10 bytes');
});
