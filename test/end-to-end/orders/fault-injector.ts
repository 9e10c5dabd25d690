import type { Fault } from '../../../sandbox/faults.ts';
import type { Sandbox } from '../../../sandbox/start.ts';
import type { SeededRandom } from './seeded-random.ts';

type InjectedFault = Omit<Fault, 'operation' | 'times' | 'login'>;

export const ORDER_TIMEOUT_MS = 1_000;
/** A delayed order is applied at the gateway this long after it was sent. */
export const LATE_MS = 1_500;
export const MAX_ANSWER_BYTES = 100_000;

const YES = { success: true, orderId: '1', err: '', message: '' };
const NO = { success: false, orderId: '', err: 'NO', message: '' };

/** Faults after which the outcome is unknown, or whose yes or no must not be believed. */
const DOUBTFUL: readonly InjectedFault[] = [
  { kind: 'reset-before' },
  { kind: 'reset-before', delayMs: 20 },
  { kind: 'reset-after' },
  { kind: 'reset-after', delayMs: 50 },
  { kind: 'hang' },
  { kind: 'delay', delayMs: LATE_MS },
  { kind: 'drip', delayMs: 20 },
  { kind: 'cut' },
  { kind: 'cut-head' },
  { kind: 'garbage' },
  { kind: 'empty' },
  { kind: 'html' },
  { kind: 'html', apply: true },
  { kind: 'redirect', apply: true },
  { kind: 'oversize', bytes: 2 * MAX_ANSWER_BYTES },
  { kind: 'gzip-bomb', bytes: 1_048_576 },
  { kind: 'status', status: 500, apply: true },
  { kind: 'status', status: 502, apply: true, body: '<html>' },
  { kind: 'status', status: 503, apply: true, body: NO },
  { kind: 'status', status: 504 },
  { kind: 'status', status: 408, apply: true },
  { kind: 'status', status: 204, apply: true },
  { kind: 'status', status: 200, apply: true, body: {} },
  { kind: 'status', status: 200, body: {} },
  { kind: 'status', status: 200, apply: true, body: { ...YES, success: 'true' } },
  { kind: 'status', status: 409, apply: true, body: YES },
  { kind: 'status', status: 403, apply: true, body: YES },
];

/** Rejections by the gateway itself. */
const REJECTING: readonly InjectedFault[] = [
  { kind: 'status', status: 400 },
  { kind: 'status', status: 404, body: 'no such thing' },
  { kind: 'status', status: 422, body: '{"success":fal' },
  { kind: 'status', status: 200, body: NO },
];

const HARMLESS: readonly InjectedFault[] = [
  { kind: 'delay', delayMs: 5 },
  { kind: 'delay', delayMs: 120 },
  { kind: 'drip', delayMs: 1 },
];

/** Refusals that say nothing about the order: after these its key is free. */
const REFUSING: readonly InjectedFault[] = [
  { kind: 'status', status: 401 },
  { kind: 'status', status: 403 },
  { kind: 'status', status: 429, headers: { 'retry-after': '1' } },
];

export interface Account {
  readonly login: number;
  readonly email: string;
  /** Whether the gateway refuses this account at times: its orders may be sent again after that. */
  readonly isRefused: boolean;
}

/** Injects random faults at the gateway. */
export class FaultInjector {
  readonly #sandbox: Sandbox;
  readonly #random: SeededRandom;
  #refusals = 0;

  constructor(sandbox: Sandbox, random: SeededRandom) {
    this.#sandbox = sandbox;
    this.#random = random;
  }

  /** The number of orders that were refused with a status that frees the key. */
  get refusals(): number {
    const waiting = this.#sandbox.faults().filter(isRefusing).length;
    return this.#refusals - waiting;
  }

  /** Injects a fault for the account's next order. */
  injectNext({ login, isRefused }: Account): void {
    const random = this.#random;
    const once = { times: 1, login } as const;
    // This is rare, because every token needs that call after a kill, and a breaker would block all of them.
    if (random.happens(0.01)) {
      this.#sandbox.fail({ ...once, operation: 'getSession', kind: 'status', status: 503 });
    }
    const operation = random.happens(0.6) ? 'openPosition' : 'placeLimitOrder';
    if (isRefused && random.happens(0.5)) {
      this.#refusals += 1;
      this.#sandbox.fail({ ...once, operation, ...random.pick(REFUSING) });
      return;
    }
    const kind = random.next();
    const fault = random.pick(kind < 0.6 ? DOUBTFUL : kind < 0.75 ? REJECTING : HARMLESS);
    this.#sandbox.fail({ ...once, operation, ...fault });
  }
}

function isRefusing({ kind, status, apply }: Fault): boolean {
  return kind === 'status' && apply === undefined && [401, 403, 429].includes(status ?? 0);
}
