/** The types of an adapter, a file that reads a gateway of another shape (docs/adapter.md). This file imports nothing, so it can be published alone. */

/** Pure and synchronous: an answer is the same however often it is read. What fails costs that one call. */
export interface GatewayAdapter {
  /** Returns what this gateway takes otherwise than the interface; `{}` for nothing. */
  request?(call: AdapterCall): Partial<Omit<AdapterCall, 'headers'>> & {
    /** Set beside the others; one that is null is not sent. */
    readonly headers?: Readonly<Record<string, string | null>>;
  };
  /**
   * Returns the answer as the interface has it, or with another status `{ status, body }`, which is never a better one: a 200 may
   * become a 401, and no 401 a 200. Called for answers in JSON.
   */
  answer?(operation: string, body: unknown, status: number): unknown;
}

/** A request. Placeholders, which are put back before it is sent, stand for the parameters of its path, and for all secrets. */
export interface AdapterCall {
  /** `getSession`, as `trading-graph interface` names it. */
  readonly operation: string;
  /** `/trading/session/{login}`: each parameter stays in it once. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The JSON of the body; null where there is none. */
  readonly body: unknown;
}
