import { execFile, execFileSync } from 'node:child_process';
import { constants, mkdtempDisposableSync, openSync, readSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { LogOutput } from '../../src/lib/log-output.ts';
import { eventually } from '../support/eventually.ts';

test('lines beyond the bound are dropped, and a later line reports how many', async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'log-output-'));
  const path = join(folder.path, 'pipe');
  execFileSync('mkfifo', [path]);
  // A pipe holds about 64 kB until it is read.
  const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  const droppedLine = (count: number) => `${count} dropped\n`;
  const output = new LogOutput({ fd, droppedLine, maxBytes: 200_000 });
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
  output.write(`${'too\nmuch\n'.repeat(20_000)}for it\n`);
  await output.drain(1);
  expect(output.droppedLines).toBe(40_001);
  output.write('fits\n');
  await eventually(() => expect(read()).toBe(`${first}fits\n40001 dropped\n`));
  output.write('later\n');
  await eventually(() => expect(read()).toMatch(/\n40001 dropped\nlater\n$/));
  expect(output.droppedLines).toBe(40_001);
});

test('lines that were not written yet are written at exit', async () => {
  const file = join(import.meta.dirname, '../../src/lib/log-output.ts');
  const script = `import { standardOutput } from '${file}';
    standardOutput(String).write('the last line\\n');
    process.exit();`;
  const run = promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
  expect((await run).stdout).toBe('the last line\n');
});
