import { execFile, execFileSync } from 'node:child_process';
import {
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { LogOutput } from '../../src/lib/log-output.ts';
import { eventually } from '../support/eventually.ts';

const LONG_MS = 1_000_000;
const folder = mkdtempSync(join(tmpdir(), 'log-output-'));
/** Closed at the end, once all is read: an output that tries again would write to whatever has the same number next. */
const fds: number[] = [];
afterAll(() => {
  for (const fd of fds) closeSync(fd);
  rmSync(folder, { recursive: true });
});
let files = 0;

function openOutput(fd: number, maxBytes?: number) {
  fds.push(fd);
  const droppedLine = (count: number) => `${count} dropped\n`;
  return new LogOutput({ fd, droppedLine, ...(maxBytes !== undefined && { maxBytes }) });
}

/** A pipe that takes some 64 kB until it is read. */
function openPipe(maxBytes?: number) {
  const path = join(folder, `pipe-${files++}`);
  execFileSync('mkfifo', [path]);
  const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  let read = '';
  return {
    output: openOutput(fd, maxBytes),
    /** All that was ever read. */
    read(): string {
      const piece = Buffer.alloc(1_048_576);
      try {
        read += piece.toString('utf8', 0, readSync(fd, piece));
      } catch (error) {
        // It is empty for now.
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      }
      return read;
    },
  };
}

const linesOf = (word: string, count: number) =>
  Array.from({ length: count }, (_, at) => `${word.repeat(at % 100)} ${at}\n`);

test('lines are written to a file whole and in order', async () => {
  const path = join(folder, 'file');
  const output = openOutput(openSync(path, 'w'));
  const lines = [...linesOf('a', 1_000), ...linesOf('€', 1_000)];
  for (const line of lines) output.write(line);
  await output.drain(LONG_MS);
  expect(readFileSync(path, 'utf8')).toBe(lines.join(''));
});

test('what a full pipe does not take waits, and is written whole and in order once it is read', async () => {
  const { output, read } = openPipe();
  const lines = linesOf('x', 10_000);
  for (const line of lines) output.write(line);
  await output.drain(100);
  expect(output.droppedLines).toBe(0);
  await eventually(() => expect(read()).toBe(lines.join('')));
});

describe('beyond the bound', () => {
  test('lines are dropped, and once there is room a line says how many', async () => {
    const { output, read } = openPipe(200_000);
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
});

test('at the end it waits until all is read, and for nothing where all is', async () => {
  const { output, read } = openPipe();
  await output.drain(LONG_MS);
  const text = `${'x'.repeat(200_000)}\n`;
  output.write(text);
  let isDrained = false;
  const drained = output.drain(LONG_MS).then(() => {
    isDrained = true;
  });
  await eventually(() => expect(read().length).toBeGreaterThan(60_000));
  expect(isDrained).toBe(false);
  await eventually(() => expect(read()).toBe(text));
  await drained;
});

test('an exit writes what no write has begun with', async () => {
  const file = join(import.meta.dirname, '../../src/lib/log-output.ts');
  const script = `import { standardOutput } from '${file}';
    standardOutput(String).write('the last line\\n');
    process.exit();`;
  const run = promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
  expect((await run).stdout).toBe('the last line\n');
});
