import type { PublicCause } from '../../engine/operation/error-codes.ts';
import { StacklessError } from '../../lib/stackless-error.ts';

/** An error of a code that an extension has registered; its message is for clients. */
export class DeclaredError extends StacklessError {
  override readonly name = 'DeclaredError';
  readonly described: PublicCause;

  constructor(code: string, retryable: boolean, message: string) {
    super(message);
    this.described = { message: this.message, extensions: { code, retryable } };
  }
}
