import type { Fault } from '../../src/sandbox/faults.ts';
import type { Sandbox } from '../../src/sandbox/start.ts';
import type { Chance } from './chance.ts';

type Trouble = Omit<Fault, 'operation' | 'times' | 'login'>;

export const ORDER_TIMEOUT_MS = 400;
/** What hits the facade late is applied at the gateway this long after it was sent. */
export const LATE_MS = 600;
export const LARGEST_ANSWER_BYTES = 100_000;

const YES = { success: true, orderId: '1', err: '', message: '' };
const NO = { success: false, orderId: '', err: 'NO', message: '' };

/** Everything after which nobody can know, or after which the facade must not believe a yes or a no. */
const DOUBTFUL: readonly Trouble[] = [
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
  { kind: 'oversize', bytes: 2 * LARGEST_ANSWER_BYTES },
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

/** The gateway's own no. */
const REJECTING: readonly Trouble[] = [
  { kind: 'status', status: 400 },
  { kind: 'status', status: 404, body: 'no such thing' },
  { kind: 'status', status: 422, body: '{"success":fal' },
  { kind: 'status', status: 200, body: NO },
];

const HARMLESS: readonly Trouble[] = [
  { kind: 'delay', delayMs: 5 },
  { kind: 'delay', delayMs: 120 },
  { kind: 'drip', delayMs: 1 },
];

/** Not a word about the order: after these its key is free. */
const REFUSING: readonly Trouble[] = [
  { kind: 'status', status: 401 },
  { kind: 'status', status: 403 },
  { kind: 'status', status: 429, headers: { 'retry-after': '1' } },
];

export interface Account {
  readonly login: number;
  readonly email: string;
  /** Whether the gateway turns this account away now and then: its orders may be sent again after that. */
  readonly isRefused: boolean;
}

/** What goes wrong at the gateway, by chance. */
export class Weather {
  readonly #sandbox: Sandbox;
  readonly #chance: Chance;
  #refusals = 0;

  constructor(sandbox: Sandbox, chance: Chance) {
    this.#sandbox = sandbox;
    this.#chance = chance;
  }

  /** How many orders were turned away by a status that frees the key. */
  get refusals(): number {
    const waiting = this.#sandbox.faults().filter((fault) => isRefusing(fault)).length;
    return this.#refusals - waiting;
  }

  /** The next order of this account meets something. */
  brew({ login, isRefused }: Account): void {
    const chance = this.#chance;
    const once = { times: 1, login } as const;
    // Rarely: after a kill every token needs that call, and a breaker would hold all of them back.
    if (chance.happens(0.01)) {
      this.#sandbox.fail({ ...once, operation: 'getSession', kind: 'status', status: 503 });
    }
    const operation = chance.happens(0.6) ? 'openPosition' : 'placeLimitOrder';
    if (isRefused && chance.happens(0.5)) {
      this.#refusals += 1;
      this.#sandbox.fail({ ...once, operation, ...chance.pick(REFUSING) });
      return;
    }
    const kind = chance.next();
    const degradedReason = chance.pick(kind < 0.6 ? DOUBTFUL : kind < 0.75 ? REJECTING : HARMLESS);
    this.#sandbox.fail({ ...once, operation, ...degradedReason });
  }
}

function isRefusing({ kind, status, apply }: Fault): boolean {
  return kind === 'status' && apply === undefined && [401, 403, 429].includes(status ?? 0);
}
