import type { Clock } from '../../lib/clock.ts';
import type { Exchange, WireCall } from '../exchange.ts';

export interface QuotaWatchOptions {
  readonly clock: Clock;
  /** Called when the first operation begins to be refused, and when the last one is no longer refused. */
  readonly onQuota: (operation: string, state: 'refused' | 'answered') => void;
}

/** The answers to one operation within one window. */
interface Answers {
  readonly sinceMs: number;
  all: number;
  refused: number;
  readonly refusedByAccount: Map<string, number>;
}

const WINDOW_MS = 10_000;
/** A quota by the minute lets some calls pass as each minute begins: an operation stays refused for this long. */
const REFUSED_MS = 60_000;
const MIN_ANSWERS = 10;
/** One account may be over a quota of its own. */
const MIN_ACCOUNTS = 3;
const MAX_ACCOUNTS = 64;

/** Notices operations whose calls are mostly answered by 429. No breaker opens for them, because the gateway is well. */
export class QuotaWatch {
  readonly #options: QuotaWatchOptions;
  readonly #answers = new Map<string, Answers>();
  /** When each refused operation was last found to be refused. */
  readonly #refusedAtMs = new Map<string, number>();

  constructor(options: QuotaWatchOptions) {
    this.#options = options;
  }

  observe({ operation: { name }, caller }: WireCall, exchange: Exchange): void {
    if (!exchange.sent || !exchange.answered) return;
    const answers = this.#windowOf(name);
    answers.all += 1;
    // A client can claim to be many accounts, so only a proved account counts.
    const account = caller.tokenStatus?.provedClient?.key;
    if (exchange.status === 429 && account !== undefined) {
      const { refusedByAccount: counts } = answers;
      answers.refused += 1;
      const before = counts.get(account) ?? 0;
      if (before > 0 || counts.size < MAX_ACCOUNTS) counts.set(account, before + 1);
      if (this.#isRefused(name, answers)) this.#note(name);
    }
    if (this.#refusedAtMs.size > 0) this.#forget();
  }

  /** The operations that are refused. */
  refused(): readonly string[] {
    this.#forget();
    return [...this.#refusedAtMs.keys()];
  }

  #windowOf(name: string): Answers {
    const nowMs = this.#options.clock.now();
    const present = this.#answers.get(name);
    if (present !== undefined && nowMs - present.sinceMs < WINDOW_MS) return present;
    const answers = { sinceMs: nowMs, all: 0, refused: 0, refusedByAccount: new Map() };
    this.#answers.set(name, answers);
    return answers;
  }

  /** Whether half of the answers refuse, and refuse several accounts. While clients back off, few answers are enough. */
  #isRefused(name: string, { all, refused, refusedByAccount }: Answers): boolean {
    if (refused < all / 2) return false;
    if (this.#refusedAtMs.has(name)) return true;
    const mostOfOneAccount = Math.max(...refusedByAccount.values());
    const isOfSeveral = refusedByAccount.size >= MIN_ACCOUNTS && mostOfOneAccount <= refused / 2;
    return all >= MIN_ANSWERS && isOfSeveral;
  }

  #note(name: string): void {
    const isFirst = this.#refusedAtMs.size === 0;
    this.#refusedAtMs.set(name, this.#options.clock.now());
    if (isFirst) this.#options.onQuota(name, 'refused');
  }

  #forget(): void {
    for (const [name, atMs] of this.#refusedAtMs) {
      if (this.#options.clock.now() - atMs < REFUSED_MS) continue;
      this.#refusedAtMs.delete(name);
      if (this.#refusedAtMs.size === 0) this.#options.onQuota(name, 'answered');
    }
  }
}
