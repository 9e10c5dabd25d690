import type { OrderRequest, Reply } from './order-request.ts';

/** One question or order, and what its client held in the end. */
export interface Exchange {
  /** Null: only asked what became of the key. */
  readonly request: OrderRequest | null;
  readonly reply: Reply;
  /** Its place among all beginnings and ends, so that before and after can be told. */
  readonly beganAt: number;
  readonly endedAt: number;
}

export interface Page {
  readonly login: number;
  readonly key: string;
  /** What the key was first used for. */
  readonly request: OrderRequest;
  readonly exchanges: Exchange[];
}

/** The clients' side of the story: every order of every account with all that was said of it. */
export class LedgerBook {
  readonly #pages = new Map<string, Page>();
  readonly #byLogin = new Map<number, Page[]>();
  #instant = 0;

  open(login: number, request: OrderRequest): Page {
    const key = request.input.idempotencyKey;
    const page: Page = { login, key, request, exchanges: [] };
    this.#pages.set(pageId(login, key), page);
    const own = this.#byLogin.get(login) ?? [];
    this.#byLogin.set(login, own);
    own.push(page);
    return page;
  }

  get pages(): readonly Page[] {
    return [...this.#pages.values()];
  }

  of(login: number): readonly Page[] {
    return this.#byLogin.get(login) ?? [];
  }

  async note(page: Page, request: OrderRequest | null, asked: () => Promise<Reply>) {
    const beganAt = this.#next();
    const reply = await asked();
    page.exchanges.push({ request, reply, beganAt, endedAt: this.#next() });
  }

  #next(): number {
    this.#instant += 1;
    return this.#instant;
  }
}

export function pageId(login: number | null, key: string): string {
  return `${login} ${key}`;
}
