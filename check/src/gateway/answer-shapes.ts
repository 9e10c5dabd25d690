import type { ProbeName } from '../../../src/gateway/probe.ts';
import { POSITION } from '../../../src/gateway/wire/holding.ts';
import { INSTRUMENT } from '../../../src/gateway/wire/instrument.ts';
import { WITHDRAWAL_METHOD } from '../../../src/gateway/wire/payments.ts';
import { SESSION } from '../../../src/gateway/wire/session.ts';
import {
  boolean,
  filledString,
  nullable,
  object,
  type Shape,
  string,
  vital,
  wholeList,
} from '../../../src/gateway/wire/shape.ts';

/**
 * The answers with status 200, field by field, each with what the service loses where the field differs. The
 * readers in `gateway/wire/` drop or null such fields silently; this says what the interface describes.
 */
export const ANSWER_SHAPES: Readonly<Record<ProbeName, Shape>> = {
  getAllTickers: { kind: 'list', of: INSTRUMENT, wrong: 'row' },
  getSession: SESSION,
  getWithdrawalMethods: wholeList(wholeList(WITHDRAWAL_METHOD)),
  getOpenPositions: object({ positions: vital(wholeList(POSITION)) }),
  getCustomerId: object({ customerId: vital(string) }),
  login: object({
    access_token: vital(filledString),
    passkey: nullable(boolean),
    refresh_token: nullable(string),
  }),
};
