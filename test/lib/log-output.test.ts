import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { BufferedOutput } from '../../src/lib/log-output.ts';
import { eventually } from '../support/eventually.ts';
import { createScriptedClock } from '../support/scripted-clock.ts';

interface Attempt {
  readonly text: string;
  readonly done: (error: NodeJS.ErrnoException | null, written: number) => void;
}

/** An output whose writes end when the test says so. */
function openOutput(maxBytes = 100) {
  const attempts: Attempt[] = [];
  const clock = createScriptedClock();
  let last = '';
  const output = new BufferedOutput({
    write: (bytes, done) => void attempts.push({ text: bytes.toString(), done }),
    writeLast: (bytes) => {
      last += bytes.toString();
    },
    droppedLine: (count) => `${count} dropped\n`,
    maxBytes,
    retryMs: 1,
    clock,
  });
  const attempt = (at: number) =>
    eventually(() => {
      expect(attempts).toHaveLength(at + 1);
      return attempts[at] as Attempt;
    });
  const succeed = async (at: number) => {
    const { text, done } = await attempt(at);
    done(null, Buffer.byteLength(text));
    return text;
  };
  return { output, attempts, clock, attempt, succeed, last: () => last };
}

const failure = (code: string) => Object.assign(new Error(code), { code });

test('the lines of several turns are written together, and those that come meanwhile after them', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { output, attempts, succeed } = openOutput();
  output.write('a\n');
  vi.advanceTimersByTime(19);
  output.write('b\nc\n');
  expect(attempts).toHaveLength(0);
  vi.advanceTimersByTime(1);
  output.write('d\n');
  output.write('e\n');
  expect(await succeed(0)).toBe('a\nb\nc\n');
  expect(await succeed(1)).toBe('d\ne\n');
});

test('what was written in part goes on where it stopped', async () => {
  const { output, attempt, succeed } = openOutput();
  output.write('1234567\n');
  (await attempt(0)).done(null, 3);
  (await attempt(1)).done(failure('ENOSPC'), 2);
  expect(await succeed(2)).toBe('67\n');
});

test('a large backlog is written in pieces', async () => {
  const { output, succeed } = openOutput(200_000);
  output.write(`${'x'.repeat(99_999)}\n`);
  expect(await succeed(0)).toHaveLength(65_536);
  expect(await succeed(1)).toHaveLength(34_464);
});

test('lines that come while others are written wait whole, in any number and script', async () => {
  const { output, attempt, succeed } = openOutput(100_000);
  const linesOf = (word: string) =>
    Array.from({ length: 100 }, (_, at) => `${word.repeat(at)} ${at}\n`);
  for (const line of linesOf('a')) output.write(line);
  const first = await attempt(0);
  expect(first.text).toBe(linesOf('a').join(''));
  for (const line of linesOf('€')) output.write(line);
  first.done(null, 1_000);
  expect(await succeed(1)).toBe(first.text.slice(1_000));
  expect(await succeed(2)).toBe(linesOf('€').join(''));
});

describe('beyond the bound', () => {
  test('lines are dropped, and the next one written says how many', async () => {
    const { output, attempt, succeed } = openOutput(20);
    output.write('first line\n');
    await attempt(0);
    output.write('too\nmuch\nfor it\n');
    output.write('second\n');
    output.write('third\n');
    expect(output.droppedLines).toBe(4);
    expect(output.degradedReason()).toBe('lines of the log are dropped: nobody reads it');
    await succeed(0);
    expect(output.degradedReason()).toBeNull();
    expect(await succeed(1)).toBe('second\n4 dropped\n');
    output.write('fourth\n');
    expect(await succeed(2)).toBe('fourth\n');
    expect(output.droppedLines).toBe(4);
  });

  test('bytes count, not characters', async () => {
    const { output } = openOutput(5);
    output.write('éé\n');
    expect(output.droppedLines).toBe(0);
    output.write('\n');
    expect(output.droppedLines).toBe(1);
  });
});

describe('a write that fails', () => {
  test.each(['ENOSPC', 'EIO', 'EAGAIN', 'EPIPE'])('with %s is repeated', async (code) => {
    const { output, attempt, succeed } = openOutput();
    output.write('a\n');
    (await attempt(0)).done(failure(code), 0);
    output.write('b\n');
    expect(await succeed(1)).toBe('a\n');
    expect(await succeed(2)).toBe('b\n');
  });

  test('degrades the service when it lasts, by its first reason, until a write succeeds', async () => {
    const { output, clock, attempt, succeed } = openOutput();
    output.write('a\n');
    (await attempt(0)).done(failure('EPIPE'), 0);
    await clock.advance(5_000);
    expect(output.degradedReason()).toBeNull();
    (await attempt(1)).done(failure('ERR_STREAM_DESTROYED'), 0);
    await clock.advance(1);
    expect(output.degradedReason()).toBe('the log is not taken: EPIPE');
    await succeed(2);
    expect(output.degradedReason()).toBeNull();
  });
});

test('a reader that takes nothing for five seconds degrades the service', async () => {
  const { output, clock, attempt, succeed } = openOutput();
  await clock.advance(60_000);
  output.write('a\n');
  await attempt(0);
  await clock.advance(5_001);
  expect(output.degradedReason()).toBe('the log is not taken: nobody reads it');
  await succeed(0);
  expect(output.degradedReason()).toBeNull();
});

describe('at the end', () => {
  test('waits until all is written', async () => {
    const { output, succeed } = openOutput();
    await output.drain(1_000_000);
    output.write('a\n');
    const drained = output.drain(1_000_000);
    await succeed(0);
    await drained;
  });

  test('waits no longer than it is told', async () => {
    const { output } = openOutput();
    output.write('a\n');
    await output.drain(1);
  });

  test('an exit writes what was not begun', async () => {
    const { output, attempt, last } = openOutput();
    output.write('a\n');
    await attempt(0);
    output.write('b\n');
    output.writeLast();
    expect(last()).toBe('b\n');
  });

  test('an exit writes what a failed write left', async () => {
    const { output, attempt, last } = openOutput();
    output.write('ab\n');
    (await attempt(0)).done(failure('ENOSPC'), 1);
    output.writeLast();
    expect(last()).toBe('b\n');
  });
});
