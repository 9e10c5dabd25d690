import type { IncomingHttpHeaders } from 'node:http';
import type { OperationName } from '../gateway/operations.ts';
import type { Clock } from '../lib/clock.ts';
import type { Reply } from './http.ts';
import type { TokenClaims, Tokens } from './tokens.ts';
import type { SandboxUser } from './users.ts';
import type { World } from './world.ts';

/** One request for one of the 15 operations, read and understood as far as its body and token go. */
export interface Call {
  readonly operation: OperationName;
  /** The path's value, decoded; empty where the path has none. */
  readonly param: string;
  /** Undefined where there was no body, or no JSON in it. */
  readonly body: unknown;
  readonly headers: IncomingHttpHeaders;
  /** Null where the token is missing or not valid. */
  readonly claims: TokenClaims | null;
}

/** A call whose token was accepted. */
export interface UserCall extends Call {
  readonly user: SandboxUser;
}

/** What the operations work on; the world is a new one after each reset. */
export interface Context {
  readonly world: World;
  readonly tokens: Tokens;
  readonly clock: Clock;
  readonly directionField: string;
  readonly mobileWallet: string;
  /** How long an order of TEST.SLOW takes. */
  readonly slowMs: number;
  /** Resolves false where the sandbox closed meanwhile. */
  wait(ms: number): Promise<boolean>;
}

export type Handler = (call: Call, context: Context) => Reply | Promise<Reply>;
