import { expect, test } from 'vitest';
import { readSentinelUrl } from '../../src/lib/sentinel-url.ts';

test('a Sentinel URL has the Sentinels, the primary and its database, and the credentials', () => {
  expect(
    readSentinelUrl(
      'rediss-sentinel://app:p%40ss@one.internal,10.0.0.2:7000,[::1]:7001/orders/3?sentinelUsername=s&sentinelPassword=p%26w',
    ),
  ).toEqual({
    sentinels: [
      { host: 'one.internal', port: 26_379 },
      { host: '10.0.0.2', port: 7_000 },
      { host: '::1', port: 7_001 },
    ],
    name: 'orders',
    db: 3,
    isEncrypted: true,
    username: 'app',
    password: 'p@ss',
    sentinelUsername: 's',
    sentinelPassword: 'p&w',
  });
  expect(readSentinelUrl('redis-sentinel://one/orders')).toEqual({
    sentinels: [{ host: 'one', port: 26_379 }],
    name: 'orders',
    db: 0,
    isEncrypted: false,
  });
});

test.each([
  'redis://one/orders',
  'redis-sentinel://one',
  'redis-sentinel://one/',
  'redis-sentinel:///orders',
  'redis-sentinel://one:65536/orders',
  'redis-sentinel://one,/orders',
  'redis-sentinel://:%zz@one/orders',
  'redis-sentinel://one/orders?password=p',
  'redis-sentinel://one/orders/0/1',
  'redis-sentinel://one/orders?sentinelPassword=p\n',
  'redis-sentinel://app:p\n@one/orders',
])('%s is not a Sentinel URL', (text) => {
  expect(readSentinelUrl(text)).toBe(null);
});
