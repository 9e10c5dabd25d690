import type { Token } from './token.ts';
import type { Trace } from './tracing/tracing.ts';

/** The sender of a request. */
export interface RequestCaller {
  readonly token: Token | null;
  /** Aborts a read once no client waits for it; a write runs to its own deadline. */
  readonly signal?: AbortSignal;
  /** The client's own address and agent. */
  readonly client?: { readonly address: string; readonly userAgent: string | null };
  readonly requestId?: string;
  /** The trace that the request is part of. */
  readonly trace?: Trace | undefined;
}
