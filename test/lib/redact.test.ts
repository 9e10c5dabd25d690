import { expect, test } from 'vitest';
import { redactRecord } from '../../src/lib/log.ts';
import { redact, redactTokens } from '../../src/lib/redact.ts';
import { cpuOf } from '../support/cpu.ts';
import { eventually } from '../support/eventually.ts';

const jwt = `eyJhbGciOiJIUzI1NiJ9.${Buffer.from('{"login":"700001"}').toString('base64url')}.c2lnbmF0dXJl`;

test.each([
  ['user jane.doe+fx@mail.example.com is restricted', 'user […] is restricted'],
  ['jürgen@bücher.example unknown', '[…] unknown'],
  ['/reset?mail=jane%40example.com&x=1', '/reset?mail=[…]&x=1'],
  ['root@localhost', '[…]'],
  ['login 7000012 not found', 'login […] not found'],
  ['call +44 (20) 7946-0018 now', 'call […] now'],
  ['call 0791-112-3456 now', 'call […] now'],
  ['card 4111 1111 1111 1111', 'card […]'],
  ['رقم ٠١٢٣٤٥٦٧٨٩', 'رقم […]'],
  ['Authorization: Bearer abc.def-123', 'Authorization: Bearer […]'],
  ['{"authorization":"bearer abc"}', '{"authorization":"bearer […]"}'],
  [`token ${jwt} expired`, 'token […] expired'],
  ['eyJhbGciOiJIUzI1NiJ9.eyJsb2dpbiI6IjEifQ', '[…]'],
  ['to 0x52908400098527886E0F7030069857D2E4169EE7 failed', 'to […] failed'],
  ['to bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq', 'to […]'],
])('personal data and credentials are redacted: %s', (text, expected) => {
  expect(redact(text)).toBe(expected);
});

test.each([
  'account restricted',
  'insufficient margin: 1250.50 of 98765 USD',
  'market closed until 2026-11-20 08:14',
  'EUR/USD at 1.08345, stop 1.07',
  'internationalization-of-everything',
  '',
])('the words and figures of a message are kept: %s', (text) => {
  expect(redact(text)).toBe(text);
});

test('a value that throws when it is read is replaced', () => {
  const thrown = () => {
    throw new Error('no look');
  };
  const proxy = new Proxy({}, { getPrototypeOf: thrown });
  const error = Object.defineProperty(new Error('x'), 'message', { get: thrown });
  const record = { proxy, error, number: Object.assign(new Error('x'), { message: 7 }), id: 1 };
  const unreadable = '[unreadable]';
  expect(redactRecord(record)).toEqual({
    proxy: unreadable,
    error: unreadable,
    number: unreadable,
    id: 1,
  });
});

test('redactTokens keeps figures', () => {
  expect(redactTokens(`login 7000012 with ${jwt}`)).toBe('login 7000012 with […]');
});

test.each(['a', '1', '1 ', '12-', 'a@', '+1 ', 'eyJ', 'bearer ', 'a.', '%40'])(
  'redacting a text of "%s" takes linear time',
  async (part) => {
    const cpuAt = (length: number) => cpuOf(() => redact(part.repeat(length / part.length)));
    // A busy machine can spoil one measurement; quadratic time fails in all of them.
    await eventually(() => expect(cpuAt(16_000)).toBeLessThan(24 * cpuAt(2_000)));
  },
);
