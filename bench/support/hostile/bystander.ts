import { Pool } from 'undici';
import { quantile } from '../statistics.ts';
import { bodyOf, headersOf } from './hostile-client.ts';

export interface BystanderFigures {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly asked: number;
  readonly failed: number;
}

const ASKS_EVERY_MS = 32;

/**
 * Accounts that request the same at a steady pace, whether the answer before has come or not: a wait
 * of seconds counts as often as a client would have had it. Each has an address and limits of its own.
 */
export class Bystander implements AsyncDisposable {
  readonly #pools: readonly { readonly pool: Pool; readonly token: string }[];
  readonly #body: string;
  readonly #timer: NodeJS.Timeout;
  readonly #latenciesMs: number[] = [];
  readonly #waiting = new Set<number>();
  #asked = 0;
  #failed = 0;

  /** One account for each token. */
  constructor(port: number, tokens: readonly string[], text: string) {
    this.#body = bodyOf({ text, variables: {} });
    this.#pools = tokens.map((token, at) => ({
      token,
      pool: new Pool(`http://127.0.0.1:${port}`, { localAddress: `127.0.0.${at + 2}` }),
    }));
    this.#timer = setInterval(() => void this.#ask(), ASKS_EVERY_MS);
  }

  /** Requests without an answer so far count with their wait until now. */
  stop(): BystanderFigures {
    clearInterval(this.#timer);
    const nowMs = performance.now();
    const all = [...this.#latenciesMs, ...[...this.#waiting].map((sinceMs) => nowMs - sinceMs)];
    const [p50Ms, p99Ms] = [quantile(all, 0.5), quantile(all, 0.99)];
    return { p50Ms, p99Ms, asked: this.#asked, failed: this.#failed };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#pools.map(({ pool }) => pool.destroy()));
  }

  async #ask(): Promise<void> {
    const one = this.#pools[this.#asked % this.#pools.length];
    if (!one) return;
    this.#asked += 1;
    const sentAtMs = performance.now();
    this.#waiting.add(sentAtMs);
    try {
      const sent = { path: '/graphql', method: 'POST', body: this.#body } as const;
      const { body } = await one.pool.request({ ...sent, headers: headersOf(one.token) });
      // A refusal may be one field's.
      if ((await body.text()).includes('"errors"')) this.#failed += 1;
      this.#latenciesMs.push(performance.now() - sentAtMs);
    } catch {
      this.#failed += 1;
    } finally {
      this.#waiting.delete(sentAtMs);
    }
  }
}
