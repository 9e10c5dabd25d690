import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { freePort } from '../../support/free-ports.ts';
import { answer, startScriptedGateway } from '../../support/scripted-gateway.ts';
import { check, checkOf, startGateway } from './run-check.ts';

test('all problems come at once, and the gateway of a faulty one is not called', async () => {
  const { code, text } = await check({
    ...{ PORT: 'x', GATEWAY_URL: 'ftp://example.com', MAX_COST: '-1', RATE_LIMIT_PER_MIN: '5' },
    PERSISTED_DOCUMENTS: '/no/such/folder',
  });
  expect(code).toBe(1);
  expect(text).toContain('Configuration  4 problems');
  for (const name of ['PORT="x"', 'GATEWAY_URL="ftp', 'MAX_COST="-1"', 'PERSISTED_DOCUMENTS=']) {
    expect(text).toContain(`  - ${name}`);
  }
  expect(text).toContain('warning: RATE_LIMIT_PER_MIN is not a setting');
  expect(text).toContain('Gateway        not checked, since settings of it are wrong');
});

test('a problem elsewhere leaves the gateway to be checked', async () => {
  await using gateway = await startGateway();
  const { code, text } = await checkOf(gateway, { MAX_COST: 'x' });
  expect(code).toBe(1);
  expect(text).toContain('  - MAX_COST="x"');
  expect(text).toMatch(/op 1 +GET \/trading\/tickers\/\{group\} +200/);
  expect(text).toMatch(/\n1 problem\.$/);
});

test('without a gateway it says so', async () => {
  const { code, text } = await check({});
  expect(code).toBe(0);
  expect(text).toContain('GATEWAY_URL is unset (--sandbox checks the sandbox gateway)');
  expect(text).toMatch(/\nThe configuration is fine\.$/);
});

test('no file of order records is made, and one that cannot be made is a problem', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'trading-graph-check-'));
  expect((await check({ ORDER_STORE: join(folder, 'data', 'orders.db') })).code).toBe(0);
  expect(readdirSync(folder)).toEqual([]);
  writeFileSync(join(folder, 'file'), '');
  const { code, text } = await check({ ORDER_STORE: join(folder, 'file', 'orders.db') });
  rmSync(folder, { recursive: true });
  expect(code).toBe(1);
  expect(text).toContain('must be a file that this process can use');
});

test('a Redis and a key set that cannot be reached are named', async () => {
  await using web = await startScriptedGateway((socket) => socket.end(answer(200, { keys: [] })));
  const nowhere = `//127.0.0.1:${await freePort()}`;
  const urls = { REDIS_URL: `redis:${nowhere}`, JWT_JWKS_URL: `http:${nowhere}/keys` };
  const { code, text } = await check(urls);
  expect(code).toBe(1);
  expect(text).toContain('Configuration  2 problems');
  expect(text).toMatch(/- REDIS_URL=.*: must be a Redis that can be used \(it cannot be reached\)/);
  expect(text).toMatch(
    /- JWT_JWKS_URL=.*: must be the address of a key set \(it cannot be fetched/,
  );
  const empty = await check({ JWT_JWKS_URL: `${web.url}/keys` });
  expect(empty.text).toMatch(/- JWT_JWKS_URL=.*\(the answer has no keys\)/);
});

test('a port that is in use is a warning: it may be the service itself', async () => {
  await using other = await startGateway();
  const { code, text } = await check({ PORT: String(other.port) });
  expect(code).toBe(0);
  expect(text).toContain(`warning: PORT=${other.port}`);
});
