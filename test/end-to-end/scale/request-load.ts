import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Pool } from 'undici';
import { post } from '../../../bench/support/post.ts';
import { loopbackAddress } from '../../support/loopback-address.ts';

const BATCH_MS = 50;
/** Beyond it the machine is too slow for the rate, and more requests would only wait. */
const MAX_IN_FLIGHT = 500;
/** A replica that has just started knows no token, and on a busy machine their first calls last longer than it lets others wait. */
const MAX_REPEATS = 10;
const REPEAT_MS = 1_000;
const FIELDS = 'query { session(maxAge: 0) { id balance } customerId }';
const SEARCH = 'query { instruments(first: 5, filter: { search: "corp" }) { nodes { id name } } }';
/** Takes its profit at the first tick that makes one, so that lists lose positions as well as gain them. */
const ORDER = `mutation ($key: String!) {
  placeOrder(input: {
    symbol: "AAPL", side: BUY, size: { amount: 50 }, takeProfit: { amount: 0.01 }, idempotencyKey: $key
  }) { __typename }
}`;
/** Few orders: each polls its account's feed at once. */
const KINDS = [ORDER, ...Array.from({ length: 19 }, (_, at) => (at % 2 ? FIELDS : SEARCH))];

/** Sends requests at a fixed rate, whether those before are answered or not, until it is ended. */
export function startRequestLoad(url: string, tokens: readonly string[], perSecond: number) {
  // An account's requests come from an address of its own.
  const accounts = tokens.map((token, at) => ({
    token,
    pool: new Pool(url, { localAddress: loopbackAddress(at) }),
  }));
  const inFlight = new Set<Promise<void>>();
  /** `skipped` were due while too many were in flight; `repeated` were told to wait for a moment. */
  const counts = { sent: 0, skipped: 0, repeated: 0, failures: [] as string[] };
  let isOn = true;

  async function ask(): Promise<void> {
    const query = KINDS[counts.sent % KINDS.length] ?? FIELDS;
    // Each account sends every kind.
    const account = accounts[Math.floor(counts.sent / KINDS.length) % accounts.length];
    counts.sent += 1;
    if (!account) return;
    const variables = query === ORDER ? { key: randomUUID() } : {};
    try {
      for (let repeats = 0; ; repeats += 1) {
        const { status, text: answer } = await post(account.pool, account.token, {
          query,
          variables,
        });
        const isFine = status === 200 && !answer.includes('"errors"');
        if (isFine && (query !== ORDER || answer.includes('OrderAccepted'))) return;
        if (repeats === MAX_REPEATS || !answer.includes('"RATE_LIMITED"')) {
          return void counts.failures.push(`${status} ${answer.slice(0, 300)}`);
        }
        counts.repeated += 1;
        await delay(REPEAT_MS);
      }
    } catch (error) {
      const { message, cause } = error as Error;
      counts.failures.push(`${message}: ${cause}`);
    }
  }

  async function send(): Promise<void> {
    const startedAtMs = performance.now();
    while (isOn) {
      const due = ((performance.now() - startedAtMs) * perSecond) / 1_000;
      while (counts.sent + counts.skipped < due) {
        if (inFlight.size >= MAX_IN_FLIGHT) counts.skipped += 1;
        else {
          const asked = ask().then(() => {
            inFlight.delete(asked);
          });
          inFlight.add(asked);
        }
      }
      await delay(BATCH_MS);
    }
  }

  const sending = send();
  return {
    counts,
    async end(): Promise<void> {
      isOn = false;
      await sending;
      await Promise.all(inFlight);
      await Promise.all(accounts.map(({ pool }) => pool.close()));
    },
  };
}
