import { describe, expect, test } from 'vitest';
import { createLog } from '../../src/lib/log.ts';

const jwt = 'eyJhbGciOiJIUzI1NiJ9.eyJsb2dpbiI6IjcwMDAwMSJ9.Y2FuYXJ5';

function openLog() {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  return { log: createLog({ level: 'trace', destination }), lines };
}

function recordOf(lines: readonly string[]): Record<string, unknown> {
  expect(lines).toHaveLength(1);
  return JSON.parse(lines[0] ?? '') as Record<string, unknown>;
}

test('a line is one JSON object with time, level and message', () => {
  const { log, lines } = openLog();
  log.info({ operation: 'getSession', ms: 12, requestId: 'a-1' }, 'gateway answered');
  expect(recordOf(lines)).toEqual({
    level: 'info',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    operation: 'getSession',
    ms: 12,
    requestId: 'a-1',
    msg: 'gateway answered',
  });
});

describe('a secret never reaches the output', () => {
  const names =
    'Authorization access_token refreshToken password phone_number address passkey set-cookie x-api-key JWT_SECRET email';

  test.each(names.split(' '))('under the name %s, at any depth', (name) => {
    const { log, lines } = openLog();
    const secret = { [name]: 'canary', kept: 'kept' };
    log.info({ ...secret, request: { headers: secret, list: [[secret]] } }, 'asked');
    const headers = new Headers({ [name]: 'canary' });
    log.info({ headers, map: new Map([[name, 'canary']]) }, 'asked');
    expect(lines).toHaveLength(2);
    expect(lines.join('')).not.toContain('canary');
    expect(lines[0]).toContain('kept');
  });

  test('in an error, its cause, its properties and its stack', () => {
    const { log, lines } = openLog();
    const cause = new Error('no user jane@example.com', {
      cause: 'Bearer Y2FuYXJ5 of jane@example.com',
    });
    const error = Object.assign(new TypeError(`phone +44 7911 123456, ${jwt}`, { cause }), {
      code: 'E_CONTRACT',
      body: { message: 'jane@example.com', password: 'canary' },
      errors: [new Error('login 7000012')],
    });
    log.error({ err: error }, `gateway failed with ${jwt}`);
    log.error({ failure: { error } }, 'gateway failed');
    log.error({ err: new AggregateError([error, 'jane@example.com'], 'all failed') }, 'failed');
    const output = lines.join('');
    for (const canary of ['jane', '7911', 'Y2FuYXJ5', 'canary', '7000012', 'eyJ']) {
      expect(output).not.toContain(canary);
    }
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      err: { type: 'TypeError', code: 'E_CONTRACT', cause: { type: 'Error' } },
      msg: expect.stringContaining('gateway failed'),
    });
  });
});

test('a circular or very large record is cut, and values that JSON lacks become text', () => {
  const { log, lines } = openLog();
  const circle: Record<string, unknown> = {};
  circle.again = circle;
  const wide = Array(10_000).fill([1n]);
  let deep: object = {};
  for (let level = 0; level < 20; level += 1) deep = { deep };
  log.info({ circle, wide, process }, 'asked');
  expect(recordOf(lines)).toMatchObject({ circle: { again: '[circular]' } });
  expect(lines[0]?.length).toBeLessThan(1_000_000);
  log.info({ wide }, 'asked');
  log.info({ deep }, 'asked');
  for (const line of lines.slice(1)) expect(line).toContain('[left out]');
  // The same object twice is not circular.
  const one = { name: 'one' };
  const url = new URL('https://user:canary@gateway.example.com/path?key=canary');
  // A large integer is logged as text, because readers of JSON would round it.
  log.info(
    { first: one, second: one, large: 2n ** 60n, url, bytes: Buffer.from('canary') },
    'asked',
  );
  expect(JSON.parse(lines[3] ?? '')).toMatchObject({
    first: one,
    second: one,
    large: '1152921504606846976',
    url: 'https://gateway.example.com/path',
    bytes: '[6 bytes]',
  });
});
