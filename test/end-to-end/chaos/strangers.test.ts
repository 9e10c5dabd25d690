import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../../src/sandbox/start.ts';
import { inFull } from '../../support/in-full.ts';
import { signedToken } from '../../support/tokens.ts';
import { startWeighedFacade, type WeighedFacade } from './weighed-facade.ts';

const MEGABYTE = 1_048_576;
const AT_A_TIME = 20;

let sandbox: Sandbox;
let facade: WeighedFacade;
beforeAll(async () => {
  sandbox = await startSandbox({ seed: 'strangers', instruments: 100, tickMs: 0 });
  facade = await startWeighedFacade({
    GATEWAY_URL: sandbox.url,
    NODE_ENV: 'production',
    RATE_LIMIT_PER_MINUTE: '10000000',
  });
});
afterAll(async () => {
  await facade[Symbol.asyncDispose]();
  await sandbox.close();
});

let made = 0;

/** Measures how many megabytes the heap grows by. */
async function growth(times: number, ask: (at: number) => Promise<unknown>): Promise<number> {
  const before = await facade.heldBytes();
  let left = times;
  const asking = Array.from({ length: AT_A_TIME }, async () => {
    while (left > 0) {
      left -= 1;
      made += 1;
      await ask(made);
    }
  });
  await Promise.all(asking);
  return ((await facade.heldBytes()) - before) / MEGABYTE;
}

function post(parameters: object): Promise<string> {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify(parameters);
  return fetch(`${facade.url}/graphql`, { method: 'POST', headers, body }).then((answer) =>
    answer.text(),
  );
}

describe('the memory that unauthenticated requests leave behind', () => {
  test('is little for thousands of forged tokens that name a login', async () => {
    const forged = (at: number) =>
      signedToken({
        claims: { login: 700001, group: 'standard-usd', exp: 4_000_000_000, at },
        secret: 'a guess',
      });
    await growth(500, (at) => facade.query('{ session { login } }', { token: forged(at) }));
    // At most a hundred thousand are cached: as many would be twenty-five times this.
    const megabytes = await growth(inFull(4_000, 2_000), (at) =>
      facade.query('{ session { login } catalog { size } }', { token: forged(at) }),
    );
    expect(megabytes).toBeLessThan(10);
  }, 300_000);

  test('does not add up for documents that are each sent once', async () => {
    const ask = (at: number) => post({ query: `{ a${at}: __typename } # ${'x'.repeat(20_000)}` });
    await growth(200, ask);
    expect(await growth(600, ask)).toBeLessThan(10);
  }, 300_000);

  test('does not add up for invalid documents either', async () => {
    const ask = (at: number) => post({ query: `{ a${at} b${at} } # ${'x'.repeat(20_000)}` });
    await growth(200, ask);
    expect(await growth(600, ask)).toBeLessThan(10);
  }, 300_000);

  test('does not add up for documents that are stored under their hashes', async () => {
    const ask = (at: number) => {
      const query = `{ a${at}: __typename } # ${'x'.repeat(100_000)}`;
      const sha256Hash = createHash('sha256').update(query).digest('hex');
      return post({ query, extensions: { persistedQuery: { version: 1, sha256Hash } } });
    };
    await growth(200, ask);
    expect(await growth(300, ask)).toBeLessThan(10);
  }, 300_000);

  test('is little for unknown hashes', async () => {
    const ask = (at: number) => {
      const sha256Hash = createHash('sha256').update(`${at}`).digest('hex');
      return post({ extensions: { persistedQuery: { version: 1, sha256Hash } } });
    };
    await growth(500, ask);
    expect(await growth(inFull(3_000, 1_500), ask)).toBeLessThan(5);
  }, 300_000);

  test('is little for e-mails that sign in', async () => {
    const query =
      'mutation ($e: String!) { login(input: { email: $e, password: "x" }) { __typename } }';
    const ask = (at: number) => post({ query, variables: { e: `${at}@example.com` } });
    await growth(500, ask);
    expect(await growth(inFull(3_000, 1_500), ask)).toBeLessThan(10);
  }, 300_000);
});
