import { describe, expect, test } from 'vitest';
import { ClientAddresses } from '../../../src/engine/requests/client-address.ts';
import { startTestApp } from '../../support/app.ts';

function addresses(...trustedProxies: string[]) {
  const warned: unknown[] = [];
  const log = { warn: (about: unknown) => void warned.push(about) };
  const known = new ClientAddresses(trustedProxies, log);
  const addressOf = (remoteAddress: string, forwarded?: string) => {
    const headers = { 'x-forwarded-for': forwarded };
    return known.addressOf({ socket: { remoteAddress }, headers } as never);
  };
  return { addressOf, warned };
}

describe('the address of a client', () => {
  test.each<[string, string | undefined, string]>([
    ['10.0.0.1', 'spoofed, 198.51.100.7', '198.51.100.7'],
    ['10.0.0.1', '203.0.113.9, 198.51.100.7, 10.2.3.4', '198.51.100.7'],
    ['10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['10.0.0.1', '198.51.100.7:51234', '198.51.100.7'],
    ['10.0.0.1', '[2001:db8::9]:443', '2001:db8::9'],
    ['10.0.0.1', '2001:db8::9', '2001:db8::9'],
    ['10.0.0.1', '198.51.100.7, nonsense', '10.0.0.1'],
    ['10.0.0.1', 'nonsense, 10.2.3.4', '10.2.3.4'],
    ['10.0.0.1', '', '10.0.0.1'],
    ['0:0:0:0:0:FFFF:0a00:0001', '198.51.100.7', '198.51.100.7'],
    ['10.0.0.1', '198.51.100.7, ::ffff:a02:304', '198.51.100.7'],
    ['10.0.0.1', '[::ffff:198.51.100.7]:443', '198.51.100.7'],
    ['2001:db8:ffff::5', '198.51.100.7', '198.51.100.7'],
    ['2001:DB8:fffe::5%eth0', '198.51.100.7', '2001:db8:fffe::5'],
    ['::ffff:192.0.2.1', undefined, '192.0.2.1'],
    ['192.0.2.1', '198.51.100.7', '192.0.2.1'],
    ['192.0.2.8', '198.51.100.7', '198.51.100.7'],
  ])('behind %s with X-Forwarded-For "%s" is %s', (peer, forwarded, expected) => {
    const { addressOf } = addresses('10.0.0.0/8', '192.0.2.8', '2001:db8:ffff::/48');
    expect(addressOf(peer, forwarded)).toBe(expected);
  });

  test.each([
    '10.0.0.1',
    '::ffff:10.0.0.1',
    '::ffff:a00:1',
    '0:0:0:0:0:ffff:0a00:0001',
    '::ffff:10.0.0.0/104',
    '::ffff:0:0/96',
    '::/0, 10.0.0.0/8',
  ])('is forwarded by a proxy in each notation of TRUSTED_PROXIES: %s', (trusted) => {
    const { addressOf } = addresses(...trusted.split(', '));
    for (const peer of ['10.0.0.1', '::ffff:10.0.0.1', '::ffff:a00:1']) {
      expect(addressOf(peer, '198.51.100.7')).toBe('198.51.100.7');
    }
  });

  test('is logged if it is the address of an untrusted peer that sends the header', () => {
    const { addressOf, warned } = addresses('10.0.0.0/8');
    for (let sent = 0; sent < 3; sent += 1) {
      addressOf('10.0.0.1', '198.51.100.7');
      addressOf('11.0.0.1');
      addressOf('::ffff:11.0.0.2', '198.51.100.7');
    }
    // A log has one line a minute.
    expect(warned).toMatchObject([{ peer: '11.0.0.2' }]);
  });
});

test.each([
  [
    '198.51.100.7',
    'the address that a trusted proxy forwards',
    { TRUSTED_PROXIES: '127.0.0.1/32, ::1/128' },
  ],
  ['127.0.0.1', 'the address of an untrusted peer', {}],
])('the gateway receives %s, %s, and the service stays ready', async (address, _what, trusted) => {
  await using app = await startTestApp({ GATEWAY_FORWARD_CLIENT: 'on', ...trusted });
  const headers = { 'x-forwarded-for': '198.51.100.7' };
  const token = app.sandbox.token({ email: 'demo@example.com' });
  for (let time = 0; time < 2; time += 1) {
    expect((await app.query('{ customerId }', { token, headers })).errors).toEqual([]);
  }
  const received = app.sandbox.requests('getCustomerId').map(({ headers: sent }) => sent);
  expect(received.map((sent) => sent['x-forwarded-for'])).toEqual([address, address]);
  for (const url of [app.url, app.adminUrl]) {
    const ready = await fetch(`${url}/health/ready`, { headers });
    expect(await ready.json()).toMatchObject({ status: 'ok' });
  }
});
