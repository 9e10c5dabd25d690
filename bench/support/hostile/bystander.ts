import { Pool } from 'undici';
import { post } from '../post.ts';
import { quantile } from '../statistics.ts';

export type BystanderFigures = ReturnType<ReturnType<typeof startBystander>['stop']>;

const ASKS_EVERY_MS = 32;

/**
 * Accounts that request the same at a steady pace, whether the answer before has come or not: a wait
 * of seconds counts as often as a client would have had it. Each has a token, an address and limits of its own.
 */
export function startBystander(port: number, tokens: readonly string[], query: string) {
  const accounts = tokens.map((token, at) => ({
    token,
    pool: new Pool(`http://127.0.0.1:${port}`, { localAddress: `127.0.0.${at + 2}` }),
  }));
  const latenciesMs: number[] = [];
  const waiting = new Set<number>();
  let asked = 0;
  let failed = 0;

  async function ask(): Promise<void> {
    const one = accounts[asked % accounts.length];
    if (!one) return;
    asked += 1;
    const sentAtMs = performance.now();
    waiting.add(sentAtMs);
    try {
      const { text } = await post(one.pool, one.token, { query });
      // A refusal may be one field's.
      if (text.includes('"errors"')) failed += 1;
      latenciesMs.push(performance.now() - sentAtMs);
    } catch {
      failed += 1;
    } finally {
      waiting.delete(sentAtMs);
    }
  }

  const timer = setInterval(() => void ask(), ASKS_EVERY_MS);
  return {
    /** Requests without an answer so far count with their wait until now. */
    stop() {
      clearInterval(timer);
      const nowMs = performance.now();
      const all = [...latenciesMs, ...[...waiting].map((sinceMs) => nowMs - sinceMs)];
      return { p50Ms: quantile(all, 0.5), p99Ms: quantile(all, 0.99), asked, failed };
    },
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await Promise.all(accounts.map(({ pool }) => pool.destroy()));
    },
  };
}
