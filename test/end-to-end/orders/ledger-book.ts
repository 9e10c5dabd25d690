import { systemClock } from '../../../lib/clock.ts';
import type { OrderRequest, Reply } from './order-request.ts';

/** One request of a client, and the reply it got. */
export interface Exchange {
  /** Null where the client only read the outcome of the key, or closed it. */
  readonly request: OrderRequest | null;
  /** Whether it was to close the key. */
  readonly isVoid: boolean;
  readonly reply: Reply;
  /** A logical time shared with all other beginnings and ends. */
  readonly beganAt: number;
  /** The same by the gateway's clock. */
  readonly beganAtMs: number;
  readonly endedAt: number;
}

export interface Page {
  readonly login: number;
  readonly key: string;
  /** The order that the key was first used for. */
  readonly request: OrderRequest;
  /** When the key was made. */
  readonly since: Date;
  readonly exchanges: Exchange[];
}

/** The clients' ledger: every request of every account with its reply. */
export class LedgerBook {
  readonly #byLogin = new Map<number, Page[]>();
  #instant = 0;

  open(login: number, request: OrderRequest): Page {
    const key = request.input.idempotencyKey;
    const page: Page = { login, key, request, since: new Date(), exchanges: [] };
    const own = this.#byLogin.get(login) ?? [];
    this.#byLogin.set(login, own);
    own.push(page);
    return page;
  }

  get pages(): readonly Page[] {
    return [...this.#byLogin.values()].flat();
  }

  of(login: number): readonly Page[] {
    return this.#byLogin.get(login) ?? [];
  }

  async note(
    page: Page,
    request: OrderRequest | null,
    asked: () => Promise<Reply>,
    isVoid = false,
  ) {
    const began = { beganAt: this.#next(), beganAtMs: systemClock.now() };
    const reply = await asked();
    page.exchanges.push({ request, isVoid, reply, ...began, endedAt: this.#next() });
  }

  #next(): number {
    this.#instant += 1;
    return this.#instant;
  }
}

export function pageId(login: number | null, key: string): string {
  return `${login} ${key}`;
}
