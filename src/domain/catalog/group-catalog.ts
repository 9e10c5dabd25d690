import type { CatalogCopy } from './catalog-copy.ts';
import { CatalogHistory } from './history.ts';

// Later than this the last failure says nothing of the gateway any more.
const FAILURE_COUNTS_MS = 120_000;
const REFUSED_TOKENS = 1_000;

/** One group's catalog: the copy at hand, how it came to be, and how asking for a newer one went. */
export class GroupCatalog {
  readonly group: string;
  readonly history: CatalogHistory;
  #copy: CatalogCopy | null = null;
  #failures = 0;
  #failedAtMs = -Infinity;
  #retryAtMs = -Infinity;
  readonly #refused = new Set<string>();

  constructor(group: string, historyBytes: number) {
    this.group = group;
    this.history = new CatalogHistory(historyBytes);
  }

  get copy(): CatalogCopy | null {
    return this.#copy;
  }

  get failures(): number {
    return this.#failures;
  }

  /** Whether readers get the copy at hand without waiting. */
  servesAt(nowMs: number): boolean {
    if (this.#copy === null) return false;
    const isFailing = nowMs - this.#failedAtMs < FAILURE_COUNTS_MS;
    return nowMs < (isFailing ? this.#copy.servesUntilMs : this.#copy.expiresMs);
  }

  /** Whether this token's read is to set off a refresh. */
  wantsRefresh(nowMs: number, tokenHash: string): boolean {
    const fromMs = Math.max(this.#copy?.refreshFromMs ?? Infinity, this.#retryAtMs);
    return nowMs >= fromMs && !this.#refused.has(tokenHash);
  }

  hold(copy: CatalogCopy): void {
    this.#copy = copy;
    this.#failures = 0;
    this.#failedAtMs = -Infinity;
    this.#retryAtMs = -Infinity;
    this.#refused.clear();
  }

  fail(nowMs: number, retryInMs: number): void {
    this.#failures += 1;
    this.#failedAtMs = nowMs;
    this.#retryAtMs = nowMs + retryInMs;
  }

  /** The refusal is this token's own: the next reader's may do. */
  refuse(tokenHash: string): void {
    if (this.#refused.size >= REFUSED_TOKENS) this.#refused.clear();
    this.#refused.add(tokenHash);
  }
}
