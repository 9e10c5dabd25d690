/** An operation that GraphiQL opens in a tab of its own, named like the operation. */
export interface Example {
  /** The heading that its tab is below. */
  readonly group: 'Read' | 'Live' | 'Trade' | 'When it fails';
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  /** It places an order, or names instruments of the sandbox gateway: nothing for a gateway with money behind it. */
  readonly isForSandbox?: true;
}

export const EXAMPLES: readonly Example[];

export function groupOf(query: string | null): string;

export const CONFIRMED_FIELDS: readonly string[];
