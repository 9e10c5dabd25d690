import type { ReadOperation } from '../../gateway/define-operation.ts';
import { OPERATIONS, type ReadName } from '../../gateway/operations.ts';

/** The input of any read that needs no more than its account. */
export interface AccountInput {
  readonly login: string;
  readonly group: string;
  readonly etag: null;
  readonly onOwned: () => void;
}

type AccountRead = ReadOperation<AccountInput, unknown> & { readonly name: ReadName };

/** A read to run with an account's input. One that needs more throws, or asks for a path that cannot be sent. */
export function accountRead(name: ReadName): AccountRead {
  return OPERATIONS[name] as ReadOperation<never, unknown> as AccountRead;
}
