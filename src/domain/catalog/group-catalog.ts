import type { CatalogCopy } from './catalog-copy.ts';
import { CatalogHistory } from './history.ts';

// A failure older than this says nothing about the gateway's present state.
const FAILURE_COUNTS_MS = 120_000;
const REFUSED_TOKENS = 1_000;

/** One group's cached catalog, its history, and the failures of its recent fetches. */
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

  /** Whether the cached copy is served without waiting. */
  servesAt(nowMs: number): boolean {
    if (this.#copy === null) return false;
    const isFailing = nowMs - this.#failedAtMs < FAILURE_COUNTS_MS;
    return nowMs < (isFailing ? this.#copy.servesUntilMs : this.#copy.expiresMs);
  }

  /** Whether this token's read starts a refresh. */
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

  /** The refusal is about this token only: the next reader's may be accepted. */
  refuse(tokenHash: string): void {
    if (this.#refused.size >= REFUSED_TOKENS) this.#refused.clear();
    this.#refused.add(tokenHash);
  }
}
