import type { Token } from './token.ts';
import type { Trace } from './tracing/tracing.ts';

/** The headers of a request that go on with each call on its behalf. */
export interface ForwardedHeaders {
  /** Names and values alternate. */
  readonly pairs: readonly string[];
  /** The same for the same headers: nothing is shared across two of them. */
  readonly digest: string;
}

/** The sender of a request. */
export interface RequestCaller {
  /** Its hash differs with the forwarded headers as well. */
  readonly token: Token | null;
  /** Aborts a read once no client waits for it; a write runs to its own deadline. */
  readonly signal?: AbortSignal | undefined;
  /** The client's own address and agent. */
  readonly client?: { readonly address: string; readonly userAgent: string | null } | undefined;
  readonly requestId?: string | undefined;
  /** The trace that the request is part of. */
  readonly trace?: Trace | undefined;
  /** Undefined where it has none of them. */
  readonly forwarded?: ForwardedHeaders | undefined;
}
