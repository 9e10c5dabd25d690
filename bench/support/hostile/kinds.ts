import type { OperationTypeNode } from 'graphql';

export type Kind = 'query' | 'event' | 'unread' | 'many';

export interface Plan {
  readonly means: string;
  readonly operation: OperationTypeNode;
  /** The measure by which one document is worse than another. */
  readonly harm: (measured: Measured) => number;
}

/** The effect of a document on the process when it was tried. */
export interface Measured {
  readonly holdMs: number;
  /** CPU for each request, of all threads. */
  readonly cpuMs: number;
  /** Of one answer, uncompressed. */
  readonly bytes: number;
  readonly fields: number;
}

export const KINDS: readonly Kind[] = ['query', 'event', 'unread', 'many'];

const MEGABYTE = 1_048_576;

export const PLANS: Readonly<Record<Kind, Plan>> = {
  query: {
    means: 'one after the other, on one connection',
    operation: 'query',
    harm: ({ holdMs }) => holdMs,
  },
  event: {
    means: 'subscriptions, as many as are allowed',
    operation: 'subscription',
    harm: ({ holdMs }) => holdMs,
  },
  unread: {
    means: 'answers that no client reads',
    operation: 'query',
    harm: ({ bytes }) => bytes / MEGABYTE,
  },
  many: {
    means: 'concurrently, over connections and sockets',
    operation: 'query',
    harm: ({ cpuMs }) => cpuMs,
  },
};
