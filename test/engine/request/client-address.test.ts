import type { IncomingHttpHeaders } from 'node:http';
import { describe, expect, test } from 'vitest';
import { createClientAddresses } from '../../../engine/request/client-address.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';

function addresses(...trustedProxies: string[]) {
  const warned: unknown[] = [];
  const log = { warn: (about: unknown) => void warned.push(about) };
  const known = createClientAddresses(trustedProxies, log);
  const of = (remoteAddress: string, forwarded?: string) => {
    const headers: IncomingHttpHeaders =
      forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
    return known.of({ socket: { remoteAddress }, headers } as never);
  };
  return { of, warned };
}

describe('the address of a client', () => {
  test('is its peer’s, whatever the header claims, where no proxy is trusted', () => {
    const { of } = addresses();
    expect(of('192.0.2.1')).toBe('192.0.2.1');
    expect(of('::ffff:192.0.2.1')).toBe('192.0.2.1');
    expect(of('2001:DB8::1')).toBe('2001:db8::1');
    expect(of('fe80::1%eth0')).toBe('fe80::1');
    expect(of('192.0.2.1', '198.51.100.7')).toBe('192.0.2.1');
  });

  test.each([
    ['10.0.0.1', '198.51.100.7', '198.51.100.7'],
    ['10.0.0.1', 'spoofed, 198.51.100.7', '198.51.100.7'],
    ['10.0.0.1', '203.0.113.9, 198.51.100.7', '198.51.100.7'],
    ['10.0.0.1', '203.0.113.9, 198.51.100.7, 10.2.3.4', '198.51.100.7'],
    ['10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['10.0.0.1', '198.51.100.7:51234', '198.51.100.7'],
    ['10.0.0.1', '[2001:db8::9]:443', '2001:db8::9'],
    ['10.0.0.1', '2001:db8::9', '2001:db8::9'],
    ['10.0.0.1', '198.51.100.7, nonsense', '10.0.0.1'],
    ['10.0.0.1', 'nonsense, 10.2.3.4', '10.2.3.4'],
    ['10.0.0.1', '', '10.0.0.1'],
    ['::ffff:10.0.0.1', '198.51.100.7', '198.51.100.7'],
    ['::ffff:a00:1', '198.51.100.7', '198.51.100.7'],
    ['0:0:0:0:0:FFFF:0a00:0001', '198.51.100.7', '198.51.100.7'],
    ['10.0.0.1', '198.51.100.7, ::ffff:a02:304', '198.51.100.7'],
    ['10.0.0.1', '[::ffff:c633:6407]:443', '198.51.100.7'],
    ['2001:db8:ffff::5', '198.51.100.7', '198.51.100.7'],
    ['2001:db8:fffe::5', '198.51.100.7', '2001:db8:fffe::5'],
    ['192.0.2.1', '198.51.100.7', '192.0.2.1'],
    ['192.0.2.8', '198.51.100.7', '198.51.100.7'],
  ])('behind %s that says "%s" is %s', (peer, forwarded, expected) => {
    const { of } = addresses('10.0.0.0/8', '192.0.2.8', '2001:db8:ffff::/48');
    expect(of(peer, forwarded)).toBe(expected);
  });

  test.each([
    '10.0.0.1',
    '::ffff:10.0.0.1',
    '::ffff:a00:1',
    '0:0:0:0:0:ffff:0a00:0001',
    '::ffff:10.0.0.0/104',
    '::ffff:a00:0/104',
    '::ffff:0:0/96',
    '::/0, 10.0.0.0/8',
  ])('is behind a proxy however TRUSTED_PROXIES writes it: %s', (trusted) => {
    const { of } = addresses(...trusted.split(', '));
    expect(of('10.0.0.1', '198.51.100.7')).toBe('198.51.100.7');
    expect(of('::ffff:10.0.0.1', '198.51.100.7')).toBe('198.51.100.7');
    expect(of('::ffff:a00:1', '198.51.100.7')).toBe('198.51.100.7');
  });

  test('is not behind a neighbour of a network that is written as IPv6', () => {
    const { of } = addresses('::ffff:10.0.0.0/104');
    expect(of('11.0.0.1', '198.51.100.7')).toBe('11.0.0.1');
    expect(of('::ffff:b00:1', '198.51.100.7')).toBe('11.0.0.1');
  });

  test('claimed by an untrusted peer is logged once', () => {
    const { of, warned } = addresses('10.0.0.0/8');
    of('10.0.0.1', '198.51.100.7');
    expect(warned).toEqual([]);
    of('192.0.2.1', '198.51.100.7');
    of('192.0.2.2', '198.51.100.7');
    expect(warned).toEqual([{ peer: '192.0.2.1' }]);
  });
});

describe('through the whole facade', () => {
  const GATEWAY = { GATEWAY_FORWARD_CLIENT: 'on' };
  const headers = { 'x-forwarded-for': '198.51.100.7' };

  async function forwardedTo(app: TestApp): Promise<string | undefined> {
    const token = app.sandbox.token({ email: 'demo@example.com' });
    const { errors } = await app.query('{ customerId }', { token, headers });
    expect(errors).toEqual([]);
    return app.sandbox.requests('getCustomerId').at(-1)?.headers['x-forwarded-for'];
  }

  test('the gateway receives what a trusted proxy forwards', async () => {
    await using app = await startTestApp({ ...GATEWAY, TRUSTED_PROXIES: '127.0.0.1/32, ::1/128' });
    expect(await forwardedTo(app)).toBe('198.51.100.7');
    const ready = await fetch(`${app.url}/health/ready`);
    expect(await ready.json()).toEqual({ status: 'ok' });
  });

  test('it receives the peer’s own address where that is not trusted, which degrades nothing', async () => {
    await using app = await startTestApp(GATEWAY);
    expect(await forwardedTo(app)).toBe('127.0.0.1');
    await forwardedTo(app);
    expect(app.logged.filter((line) => line.includes('TRUSTED_PROXIES'))).toHaveLength(1);
    for (const url of [app.url, app.adminUrl]) {
      const ready = await fetch(`${url}/health/ready`, { headers });
      expect(await ready.json()).toMatchObject({ status: 'ok' });
    }
  });
});
