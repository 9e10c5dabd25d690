import type { OperationName } from '../../gateway/operations.ts';
import type { Handler } from '../call.ts';
import * as auth from './auth.ts';
import * as orders from './orders.ts';
import * as payments from './payments.ts';
import * as reads from './reads.ts';
import * as user from './user.ts';

/** Each export of these files handles the operation of the same name. */
export const HANDLERS: Readonly<Record<OperationName, Handler>> = {
  ...auth,
  ...orders,
  ...payments,
  ...reads,
  ...user,
};
