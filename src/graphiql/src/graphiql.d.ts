import type { GraphQLResult, Operation } from '../page/types.d.ts';

/** Renders GraphiQL; the other options are the properties of its React component. */
export function renderGraphiQL(
  element: Element,
  options: Readonly<Record<string, unknown>> & {
    readonly runsAtOpening: boolean;
    /** Called if an operation was not sent, because its variables or headers are no JSON. */
    readonly onNotSent: () => void;
  },
): void;

export function createHttpFetcher(
  url: string,
  fetch: (url: string, init: RequestInit) => Promise<Response>,
): (
  params: Operation,
  headers: Readonly<Record<string, string>>,
) => Promise<AsyncIterable<unknown> | unknown>;

export function subscribe(
  url: string,
  authorization: string | null,
  params: Operation,
): AsyncIterableIterator<GraphQLResult>;

export function operationOf(
  query: string,
  operationName: string | null | undefined,
): { readonly kind: 'query' | 'mutation' | 'subscription'; readonly name: string | null } | null;
