import type { ExecutionResult, GraphQLError } from 'graphql';

/**
 * A large result with its text, in chunks of UTF-8 that nobody copies into one piece. Lists in its data
 * may be serialized already, so that only the text has all of them.
 */
export class WrittenResult implements ExecutionResult {
  declare readonly data?: Record<string, unknown> | null;
  declare readonly errors?: readonly GraphQLError[];
  declare readonly extensions?: Record<string, unknown>;
  readonly chunks: readonly Buffer[];

  constructor(result: ExecutionResult, chunks: readonly Buffer[]) {
    Object.assign(this, result);
    this.chunks = chunks;
  }

  /** Called by yoga in place of its own serialization. */
  stringify(): string {
    return Buffer.concat(this.chunks).toString();
  }
}
