import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';

export type Ask = typeof ask;

/**
 * Asks at the console, on stderr, so that stdout contains only the command's output. Null without a console. A hidden
 * answer is not echoed.
 */
export async function ask(
  question: string,
  { isHidden } = { isHidden: false },
): Promise<string | null> {
  if (!process.stdin.isTTY) return null;
  const echo = new Writable({
    write(chunk: Buffer, _encoding, done) {
      if (!isHidden) process.stderr.write(chunk);
      done();
    },
  });
  const input = createInterface({
    input: process.stdin,
    output: echo,
    terminal: true,
    historySize: 0,
  });
  try {
    if (isHidden) process.stderr.write(question);
    // Ctrl+C and Ctrl+D give up. Otherwise the question would wait for ever.
    const givenUp = Promise.race([once(input, 'SIGINT'), once(input, 'close')]);
    const answer = await Promise.race([input.question(isHidden ? '' : question), givenUp]);
    if (isHidden) process.stderr.write('\n');
    return typeof answer === 'string' ? answer : null;
  } finally {
    input.close();
  }
}
