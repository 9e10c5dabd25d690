import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { startSandbox } from '../../../sandbox/start.ts';
import { inFull } from '../../support/in-full.ts';
import { rawPost } from '../../support/raw-request.ts';
import { startedOnce } from '../../support/started.ts';
import { signedToken } from '../../support/tokens.ts';
import { startWeighedFacade } from './weighed-facade.ts';

const MEGABYTE = 1_048_576;
const AT_A_TIME = 20;

const sandbox = startedOnce(() => startSandbox({ seed: 'strangers', instruments: 100, tickMs: 0 }));
const facade = startedOnce(() =>
  startWeighedFacade({
    GATEWAY_URL: sandbox.url,
    NODE_ENV: 'production',
    RATE_LIMIT_PER_MINUTE: '10000000',
  }),
);

let made = 0;

/** Measures how many megabytes the heap grows by. */
async function growth(times: number, ask: (at: number) => Promise<unknown>): Promise<number> {
  const before = await facade.weigh();
  let left = times;
  const asking = Array.from({ length: AT_A_TIME }, async () => {
    while (left > 0) {
      left -= 1;
      made += 1;
      await ask(made);
    }
  });
  await Promise.all(asking);
  return ((await facade.weigh()).heldBytes - before.heldBytes) / MEGABYTE;
}

const post = (parameters: object) => rawPost(`${facade.url}/graphql`, JSON.stringify(parameters));
const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');
const persisted = (sha256Hash: string) => ({ persistedQuery: { version: 1, sha256Hash } });
const SIGN_IN =
  'mutation ($e: String!) { login(input: { email: $e, password: "x" }) { __typename } }';

interface Unauthenticated {
  readonly ask: (at: number) => Promise<unknown>;
  readonly times: number;
  /** As many as are cached would be twenty-five times this. */
  readonly mostMegabytes: number;
}

const ASKED: Readonly<Record<string, Unauthenticated>> = {
  'forged tokens that name a login': {
    ask: (at) => {
      const claims = { login: 700001, group: 'standard-usd', exp: 4_000_000_000, at };
      const token = signedToken({ claims, secret: 'a guess' });
      return facade.query('{ session { login } catalog { size } }', { token });
    },
    times: inFull(4_000, 2_000),
    mostMegabytes: 10,
  },
  'documents that are stored under their hashes': {
    ask: (at) => {
      const query = `{ a${at}: __typename } # ${'x'.repeat(100_000)}`;
      return post({ query, extensions: persisted(hashOf(query)) });
    },
    times: 300,
    mostMegabytes: 10,
  },
  'unknown hashes': {
    ask: (at) => post({ extensions: persisted(hashOf(`${at}`)) }),
    times: inFull(3_000, 1_500),
    mostMegabytes: 5,
  },
  'e-mails that sign in': {
    ask: (at) => post({ query: SIGN_IN, variables: { e: `${at}@example.com` } }),
    times: inFull(3_000, 1_500),
    mostMegabytes: 10,
  },
};

test.each(Object.entries(ASKED))(
  'unauthenticated requests leave little memory behind: %s',
  async (_what, { ask, times, mostMegabytes }) => {
    await growth(500, ask);
    expect(await growth(times, ask)).toBeLessThan(mostMegabytes);
  },
  300_000,
);
