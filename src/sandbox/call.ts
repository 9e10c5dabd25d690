import type { IncomingHttpHeaders } from 'node:http';
import type { OperationName } from '../gateway/operations.ts';
import type { Clock } from '../lib/clock.ts';
import type { Reply } from './http.ts';
import type { TokenClaims, Tokens } from './tokens.ts';
import type { SandboxUser } from './users.ts';
import type { World } from './world.ts';

/** One request for one of the operations, with its body parsed and its token verified. */
export interface Call {
  readonly operation: OperationName;
  /** The name of the call in the operation's file. */
  readonly name: string;
  /** The decoded values of the path's `{parameters}`. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Undefined without a body, or if it is not JSON. */
  readonly body: unknown;
  readonly headers: IncomingHttpHeaders;
  /** Null without a valid token. */
  readonly claims: TokenClaims | null;
}

/** A call whose token was accepted. */
export interface UserCall extends Call {
  readonly user: SandboxUser;
}

/** The state that operations work on; each reset replaces the world. */
export interface Context {
  readonly world: World;
  readonly tokens: Tokens;
  readonly clock: Clock;
  readonly directionField: string;
  readonly mobileWallet: string;
  /** The duration of an order of TEST.SLOW. */
  readonly slowMs: number;
  /** Resolves to false if the sandbox closes meanwhile. */
  wait(ms: number): Promise<boolean>;
}

export type Handler = (call: Call, context: Context) => Reply | Promise<Reply>;
