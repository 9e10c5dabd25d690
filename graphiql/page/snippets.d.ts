/** An operation, and what it is sent with. */
export interface Shown {
  readonly document: string;
  readonly variables: Readonly<Record<string, unknown>> | undefined;
  readonly kind: 'query' | 'mutation' | 'subscription';
}

export function snippetsOf(
  shown: Shown,
  endpoint: string,
): readonly { readonly title: string; readonly code: string }[];

export type Snippet = (shown: Shown, endpoint: string) => string;

export const curl: Snippet;

export const apollo: Snippet;
