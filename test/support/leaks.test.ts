import { expect, test } from 'vitest';
import { assertNoLeak } from './leaks.ts';
import { REDIS_PASSWORD } from './redis.ts';

const received = [
  { body: '' },
  { body: 'no JSON' },
  { body: '{"comment":"for my daughter","email":"a@b.example","volume":"12345678"}' },
  { body: '{"details":[{"password":"correct horse"}],"comment":"short"}' },
];

test.each([
  ['a token', '"requestId":"eyJhbGciOiJIUzI1NiJ9xxxxxxxxxx"'],
  ['an e-mail address', 'demo@example.com is unknown'],
  ['a login', '{"login":700001}'],
  ['a login in a text', '/trading/session/700003?'],
  ['a login in the label of a metric', 'orders_total{login="700001",side="BUY"} 1'],
  ['an address with a password', 'redis://:secret@127.0.0.1:6379'],
  ['a password of Redis', `AUTH ${REDIS_PASSWORD}`],
  ['a comment that was sent', 'order "for my daughter"'],
  ['a password that was sent', 'correct horse'],
])('%s is found', (_kind, text) => {
  expect(() => assertNoLeak('log', ['a line', text], received)).toThrow(/ is in the log: /);
});

test.each([
  ['a redacted address', 'redis://:***@127.0.0.1:6379'],
  ['a package in a path', 'at node_modules/@pothos/core/index.js'],
  ['figures', '{"time":"2026-11-21T00:03:12.700Z","seconds":0.700001,"bytesOut":1700001}'],
  ['the value of a metric', 'heap_bytes{space="new"} 700008\nheap_bytes 700001'],
  ['a request id that begins like a token', '"requestId":"eyJgeUDzV59mYciX"'],
  ['what is no secret, or too short to tell', '12345678 short'],
])('%s is none', (_kind, text) => {
  expect(() => assertNoLeak('log', [text], received)).not.toThrow();
});
