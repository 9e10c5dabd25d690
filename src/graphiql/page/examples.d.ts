/** An operation that GraphiQL opens in a tab of its own, named like the operation. */
export interface Example {
  readonly query: string;
  /** `key` names the order whose key `withOrderKeys` fills in. */
  readonly variables?: Readonly<Record<string, unknown>>;
  /** The example places an order, or names instruments of the sandbox gateway, so it is not offered for a real gateway. */
  readonly isForSandbox?: true;
}

export const EXAMPLES: readonly Example[];

export const CONFIRMED_FIELDS: readonly string[];
