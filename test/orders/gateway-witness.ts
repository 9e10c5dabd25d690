import type { Sandbox } from '../../src/sandbox/start.ts';
import { pageId } from './ledger-book.ts';

// The sandbox remembers the last thousand requests.
const READ_AFTER = 300;
const REMEMBERED = 1_000;

/** Counts every order call by account and key, as the gateway's side of the story. */
export class GatewayWitness {
  readonly calls = new Map<string, number>();
  readonly #sandbox: Sandbox;
  #read = 0;

  constructor(sandbox: Sandbox) {
    this.#sandbox = sandbox;
  }

  /** To be called often: what the sandbox has forgotten cannot be counted any more. */
  look(isLast = false): void {
    const news = this.#sandbox.calls() - this.#read;
    if (news < READ_AFTER && !isLast) return;
    if (news > REMEMBERED) throw new Error('requests were forgotten before they were counted');
    this.#read += news;
    for (const { operation, login, body } of this.#sandbox.requests().slice(-news || Infinity)) {
      if (operation !== 'openPosition' && operation !== 'placeLimitOrder') continue;
      // The gateway never sees a key: the comment carries it.
      const id = pageId(login, String(JSON.parse(body).comment));
      this.calls.set(id, (this.calls.get(id) ?? 0) + 1);
    }
  }
}
