import { execFileSync } from 'node:child_process';
import { constants, mkdtempDisposableSync, openSync, readSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LogOutput } from '../../src/lib/log-output.ts';
import { eventually } from '../support/eventually.ts';

test('lines beyond the bound are dropped and counted', async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'log-output-'));
  const path = join(folder.path, 'pipe');
  execFileSync('mkfifo', [path]);
  // A pipe holds about 64 kB until it is read, so most of the first line waits in the output.
  const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  const output = new LogOutput(fd, 200_000);
  let all = '';
  const read = () => {
    const piece = Buffer.alloc(1_048_576);
    try {
      all += piece.toString('utf8', 0, readSync(fd, piece));
    } catch (error) {
      // The pipe is empty.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    }
    return all;
  };
  const first = `${'f'.repeat(150_000)}\n`;
  output.write(first);
  await output.drain(1);
  // These 40,001 lines do not fit into the 200,000 bytes beside the first line.
  output.write(`${'too\nmuch\n'.repeat(20_000)}for it\n`);
  await output.drain(1);
  expect(output.droppedLines).toBe(40_001);
  output.write('fits\n');
  await eventually(() => expect(read()).toBe(`${first}fits\n`));
  expect(output.droppedLines).toBe(40_001);
});
