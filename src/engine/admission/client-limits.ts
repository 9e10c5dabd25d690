import type { Balance } from '../../lib/limits/limiter.ts';
import { type Client, clientOf } from '../../lib/limits/request-caller.ts';
import { overLimit } from '../core/errors.ts';
import { ENGINE_LIMITS, type EngineLimiter } from '../core/limits.ts';
import type { Operation, TransportContext } from './operation.ts';

/** A message counts once more for each of this many bytes. */
export const COUNTED_BYTES = 16_384;
/** A new document counts as one more request for each of this many tokens. */
const TOKENS_PER_REQUEST = 200;

/**
 * Limits the operations that a client may start in a minute over all transports, and the fields of its answers. Fields are
 * known only when an answer is complete, so the answer that exceeds the limit is sent, and the next one is refused.
 */
export class ClientLimits {
  readonly #limiter: EngineLimiter;

  constructor(limiter: EngineLimiter) {
    this.#limiter = limiter;
  }

  /**
   * Charges a message of this size, of any kind: an operation, a refused request, a ping. Returns false if the client has
   * sent too much.
   */
  takeMessage(client: Client, bytes = 0): boolean {
    const points = 1 + Math.floor(bytes / COUNTED_BYTES);
    return this.#limiter.spend('messages', client, points).left >= 0;
  }

  /** Charges one operation, and sets the response's headers. Throws a Refusal if the client is over a limit. */
  charge(client: Client, { responseHeaders }: TransportContext): void {
    const requests = this.#limiter.take('requests', client);
    if (responseHeaders !== null) Object.assign(responseHeaders, headersOf(requests));
    if (requests.isOver) throw overLimit(ENGINE_LIMITS.requests.label, secondsOf(requests));
    this.checkFields(client);
  }

  /** Returns the client to charge from now on. Once an account is proved, the counts of its address move to the account. */
  currentClient(operation: Operation): Client {
    const before = operation.client;
    const client = clientOf(operation.caller);
    if (client.key === before.key) return before;
    operation.client = client;
    if (client.kind === 'account') {
      this.#limiter.move('requests', before, client);
      this.#limiter.move('messages', before, client);
    }
    return client;
  }

  /** Charges a document that is new to the process, because preparing it takes longer than answering a small request. */
  chargeTokens(client: Client, tokens: number): void {
    const requests = Math.floor(tokens / TOKENS_PER_REQUEST);
    if (requests > 0) this.#limiter.spend('requests', client, requests);
  }

  /** Charges the estimate before the run: hundreds of operations can be under way before the first is complete. */
  chargeEstimate({ client, facts }: Operation): void {
    this.#limiter.spend('fields', client, facts.cost);
  }

  /** Charges the fields in place of the estimate, once the answer is complete. */
  chargeFields(operation: Operation): void {
    this.#limiter.spend('fields', operation.client, -operation.facts.cost);
    this.#limiter.spend('fields', this.currentClient(operation), operation.meter.fields);
  }

  chargeEvent(client: Client, fields: number): void {
    this.#limiter.spend('fields', client, fields);
  }

  /** Charges a subscription until the returned function is called. Returns null if the client has too many. */
  takeSubscription(client: Client): (() => void) | null {
    if (this.#limiter.take('subscriptions', client).isOver) return null;
    return () => this.#limiter.giveBack('subscriptions', client);
  }

  /** Throws a Refusal if the client is over its limit of fields because of earlier answers. */
  checkFields(client: Client): void {
    const balance = this.#limiter.take('fields', client, 0);
    if (balance.isOver) throw overLimit(ENGINE_LIMITS.fields.label, secondsOf(balance));
  }
}

function headersOf(balance: Balance): Readonly<Record<string, string>> {
  const left = Math.max(0, Math.floor(balance.left));
  return {
    ratelimit: `"default";r=${left};t=${secondsOf(balance)}`,
    // The quota is refilled within a window of 60 seconds.
    'ratelimit-policy': `"default";q=${balance.max};w=60`,
  };
}

function secondsOf({ waitMs }: Balance): number {
  return Math.max(1, Math.ceil(waitMs / 1000));
}
