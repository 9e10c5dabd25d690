import type { Clock } from '../../lib/clock.ts';
import type { Eventually } from '../../lib/eventually.ts';

// A home screen makes five beside a cold catalog, and one that had to wait could fail without the others.
const CALLS_OF_A_TOKEN = 5;
const PATIENCE_MS = 2_000;
const MOST_WAITING_AT_AN_ADDRESS = 500;
const MOST_WAITING = 5_000;

/** Called when a call has ended. */
export type Leave = () => void;

interface Token {
  underWay: number;
  /** Each is called with null where the turn of its call does not come. */
  readonly waiting: Set<(leave: Leave | null) => void>;
}

export interface UnprovedTurnsOptions {
  readonly clock: Clock;
  /** How many wait, whatever their addresses. */
  readonly crowd: { waiting: number };
  /** Whether another token may be tried beside so many. */
  readonly mayTry: (tried: number) => boolean;
}

/**
 * The turns of one address's tokens that the gateway has not accepted yet: a few tokens are tried at a time,
 * a few calls of each. The others wait briefly in the order of their arrival, since thousands of people may
 * come from one address after a restart. The calls of a screen are one that waits.
 */
export class UnprovedTurns {
  readonly #options: UnprovedTurnsOptions;
  /** The tokens with a call under way. */
  readonly #tried = new Map<string, Token>();
  readonly #queue = new Map<string, Token>();
  #waiting = 0;

  constructor(options: UnprovedTurnsOptions) {
    this.#options = options;
  }

  get isIdle(): boolean {
    return this.#tried.size === 0 && this.#queue.size === 0;
  }

  /** Null where the turn does not come: too many wait already, or it has taken too long. */
  enter(hash: string, signal?: AbortSignal): Eventually<Leave | null> {
    this.admit();
    const tried = this.#tried.get(hash);
    const token = tried ?? this.#queue.get(hash) ?? { underWay: 0, waiting: new Set() };
    const isFree = tried
      ? tried.underWay < CALLS_OF_A_TOKEN
      : this.#queue.size === 0 && this.#options.mayTry(this.#tried.size);
    return isFree ? this.#begin(hash, token) : this.#wait(hash, token, signal);
  }

  /** The gateway has accepted the token: its calls need no turns any more. */
  accepted(hash: string): void {
    const token = this.#tried.get(hash) ?? this.#queue.get(hash);
    if (token === undefined) return;
    this.#tried.delete(hash);
    this.#queue.delete(hash);
    for (const answer of token.waiting) answer(nothingToLeave);
    this.admit();
  }

  /** Begins to try the tokens whose turn has come. */
  admit(): void {
    for (const [hash, token] of this.#queue) {
      if (!this.#options.mayTry(this.#tried.size)) return;
      this.#queue.delete(hash);
      this.#wake(hash, token);
    }
  }

  /** Refuses the tokens that are not tried yet. */
  refuseWaiting(): void {
    for (const { waiting } of this.#queue.values()) for (const answer of waiting) answer(null);
    this.#queue.clear();
  }

  #begin(hash: string, token: Token): Leave {
    this.#tried.set(hash, token);
    token.underWay += 1;
    return () => {
      token.underWay -= 1;
      this.#wake(hash, token);
      if (token.underWay > 0 || this.#tried.get(hash) !== token) return;
      this.#tried.delete(hash);
      this.admit();
    };
  }

  #wake(hash: string, token: Token): void {
    for (const answer of token.waiting) {
      if (token.underWay === CALLS_OF_A_TOKEN) return;
      answer(this.#begin(hash, token));
    }
  }

  #wait(hash: string, token: Token, signal?: AbortSignal): Eventually<Leave | null> {
    const { clock, crowd } = this.#options;
    const { waiting } = token;
    const isCrowded = this.#waiting >= MOST_WAITING_AT_AN_ADDRESS || crowd.waiting >= MOST_WAITING;
    if (signal?.aborted || (isCrowded && waiting.size % CALLS_OF_A_TOKEN === 0)) return null;
    if (!this.#tried.has(hash)) this.#queue.set(hash, token);
    const { promise, resolve } = Promise.withResolvers<Leave | null>();
    const answer = (leave: Leave | null) => {
      cancel();
      signal?.removeEventListener('abort', giveUp);
      waiting.delete(answer);
      this.#count(waiting.size, -1);
      resolve(leave);
    };
    const giveUp = () => {
      answer(null);
      if (waiting.size === 0 && this.#queue.get(hash) === token) this.#queue.delete(hash);
    };
    const cancel = clock.after(PATIENCE_MS, giveUp);
    signal?.addEventListener('abort', giveUp);
    this.#count(waiting.size, 1);
    waiting.add(answer);
    return promise;
  }

  /** Counts the first of each few calls of a token. */
  #count(others: number, by: 1 | -1): void {
    if (others % CALLS_OF_A_TOKEN > 0) return;
    this.#waiting += by;
    this.#options.crowd.waiting += by;
  }
}

function nothingToLeave(): void {}
