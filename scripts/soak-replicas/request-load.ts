import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { loopbackAddress } from '../../test/support/loopback-address.ts';

export interface RequestLoadOptions {
  readonly url: string;
  readonly tokens: readonly string[];
  readonly perSecond: number;
}

const BATCH_MS = 50;
/** Beyond it the machine is too slow for the rate, and more requests would only wait. */
const MOST_IN_FLIGHT = 500;
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
export class RequestLoad {
  readonly #options: RequestLoadOptions;
  readonly #inFlight = new Set<Promise<void>>();
  /** By the address that they connect from. */
  readonly #agents = new Map<string, Agent>();
  #isOn = true;
  readonly #sending: Promise<void>;
  sent = 0;
  /** Requests that were due while too many were in flight. */
  skipped = 0;
  readonly failures: string[] = [];

  constructor(options: RequestLoadOptions) {
    this.#options = options;
    this.#sending = this.#send();
  }

  async end(): Promise<void> {
    this.#isOn = false;
    await this.#sending;
    await Promise.all(this.#inFlight);
    await Promise.all([...this.#agents.values()].map((agent) => agent.close()));
  }

  async #send(): Promise<void> {
    const { perSecond } = this.#options;
    const startedAtMs = performance.now();
    while (this.#isOn) {
      const due = ((performance.now() - startedAtMs) * perSecond) / 1_000;
      while (this.sent + this.skipped < due) {
        if (this.#inFlight.size < MOST_IN_FLIGHT) this.#ask();
        else this.skipped += 1;
      }
      await delay(BATCH_MS);
    }
  }

  #ask(): void {
    const { tokens } = this.#options;
    const query = KINDS[this.sent % KINDS.length] ?? FIELDS;
    // Each account sends every kind.
    const account = Math.floor(this.sent / KINDS.length) % tokens.length;
    this.sent += 1;
    const asked = this.#failure(query, account).then((failure) => {
      if (failure !== null) this.failures.push(failure);
      this.#inFlight.delete(asked);
    });
    this.#inFlight.add(asked);
  }

  #agentOf(account: number): Agent {
    const localAddress = loopbackAddress(account);
    const known = this.#agents.get(localAddress);
    if (known !== undefined) return known;
    const agent = new Agent({ localAddress });
    this.#agents.set(localAddress, agent);
    return agent;
  }

  async #failure(query: string, account: number): Promise<string | null> {
    const { url, tokens } = this.#options;
    const token = tokens[account] ?? '';
    try {
      const response = await request(`${url}/graphql`, {
        dispatcher: this.#agentOf(account),
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        body: JSON.stringify({ query, variables: query === ORDER ? { key: randomUUID() } : {} }),
      });
      const body = (await response.body.json()) as {
        data?: { placeOrder?: { __typename: string } };
        errors?: unknown;
      };
      const isWrong = query === ORDER && body.data?.placeOrder?.__typename !== 'OrderAccepted';
      return response.statusCode === 200 && !body.errors && !isWrong
        ? null
        : `${response.statusCode} ${JSON.stringify(body).slice(0, 300)}`;
    } catch (error) {
      return error instanceof Error ? `${error.message}: ${error.cause}` : String(error);
    }
  }
}
