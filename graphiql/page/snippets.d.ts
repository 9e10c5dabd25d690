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

export function curl(shown: Shown, endpoint: string): string;

export function apollo(shown: Shown, endpoint: string): string;
