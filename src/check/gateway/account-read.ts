import type { ReadOperation } from '../../gateway/define-operation.ts';
import { OPERATIONS, type ReadName } from '../../gateway/operations.ts';

/** The input of every read that needs only its account. */
export interface AccountInput {
  readonly login: string;
  readonly group: string;
  readonly etag: null;
  readonly onOwned: () => void;
}

type AccountRead = ReadOperation<AccountInput, unknown> & { readonly name: ReadName };

/** A read that runs with an account's input. A read that needs more input throws, or makes a path that cannot be sent. */
export function accountRead(name: ReadName): AccountRead {
  return OPERATIONS[name] as ReadOperation<never, unknown> as AccountRead;
}
