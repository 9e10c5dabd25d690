import type { PublicCause } from '../../lib/error-traits.ts';
import { StacklessError } from '../../lib/stackless-error.ts';
import { GatewayError } from '../gateway/errors.ts';
import { publicCause } from '../schema/public-error.ts';

/** An error of a code that an extension has registered; its message is for clients. */
export class DeclaredError extends StacklessError {
  override readonly name = 'DeclaredError';
  readonly described: PublicCause;

  constructor(code: string, retryable: boolean, message: string) {
    super(message);
    this.described = { message: this.message, extensions: { code, retryable } };
  }
}

/** The judge of a write has failed: what was done is not known, and the log has the reason. */
export class JudgeError extends GatewayError {
  constructor(operation: string, status: number, cause: Error) {
    super('unknown', operation, 'its judge failed', { status, cause });
  }

  get described(): PublicCause {
    return { ...publicCause(this), fault: this.cause };
  }
}
