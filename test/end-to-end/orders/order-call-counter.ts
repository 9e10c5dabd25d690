import type { Sandbox } from '../../../sandbox/start.ts';
import { pageId } from './ledger-book.ts';

// The sandbox records the last thousand requests.
const READ_AFTER = 300;
const REMEMBERED = 1_000;

/** Counts the gateway's order calls by account and key. */
export class OrderCallCounter {
  readonly calls = new Map<string, number>();
  readonly #sandbox: Sandbox;
  #read = 0;

  constructor(sandbox: Sandbox) {
    this.#sandbox = sandbox;
  }

  /** Has to be called often: a request that the sandbox has dropped cannot be counted any more. */
  read(isLast = false): void {
    const unread = this.#sandbox.calls() - this.#read;
    if (unread < READ_AFTER && !isLast) return;
    if (unread > REMEMBERED) throw new Error('requests were forgotten before they were counted');
    this.#read += unread;
    for (const { operation, login, body } of this.#sandbox.requests().slice(-unread || Infinity)) {
      if (operation !== 'openPosition' && operation !== 'placeLimitOrder') continue;
      // The gateway never sees a key, so the comment carries it.
      const id = pageId(login, String(JSON.parse(body).comment));
      this.calls.set(id, (this.calls.get(id) ?? 0) + 1);
    }
  }
}
