import { isObject, LongInteger, parseLongIntegers } from '../../lib/json.ts';
import type { OrderReply } from '../define-operation.ts';
import type { Answer } from '../exchange.ts';
import * as f from '../fields.ts';
import { digits, type Row, readingIn, text } from '../scalars.ts';
import { readError, VERDICT } from './conventions.ts';
import type { Side } from './holdings.ts';

/** The order number: a string, or a number whose digits all count; `shown` is null if they cannot be shown. */
const orderId: f.Field<{ readonly shown: string | null }, string, null, 'value'> = {
  name: null,
  shape: { kind: 'string' },
  missing: 'value',
  wrong: 'nothing',
  read: (value) => (isOrderNumber(value) ? { shown: text(value) ?? digits(value) } : null),
};

/** The gateway guarantees none of these fields: `{}` is a documented body. Without `success` the outcome is unknown. */
export const SUBMITTED = f.table('Submitted', {
  success: f.from(VERDICT, f.flag),
  orderId,
  error: f.from('err', f.unneeded(f.text)),
  message: f.unneeded(f.text),
});

/** Reads the answer to an order. Its content type is ignored: a wrong one must not turn a trade into an unknown outcome. */
export function submitted(answer: Answer): OrderReply {
  const body = bodyIn(answer);
  const read = SUBMITTED.read(body, readingIn('auto'));
  return {
    answer,
    success: read?.success ?? null,
    orderId: read?.orderId?.shown ?? null,
    namesOrder: read?.orderId != null,
    error: read?.error ?? readError(body).error,
    message: read?.message ?? null,
  };
}

/** The JSON object of an answer; empty if the answer has none. */
export function bodyIn({ bytes }: Answer): Row {
  try {
    const body = parseLongIntegers(bytes.toString('utf8'));
    return isObject(body) ? body : {};
  } catch {
    return {};
  }
}

/** Also true for a number that cannot be shown. Empty, zero, `-`, `null` and a UUID of zeros are not order numbers. */
function isOrderNumber(orderId: unknown): boolean {
  if (orderId instanceof LongInteger) return true;
  if (typeof orderId === 'number') return orderId !== 0;
  if (typeof orderId !== 'string') return false;
  return Number(orderId) !== 0 && !/^\s*(?:[0-]*|null)\s*$/i.test(orderId);
}

export function direction(side: Side): 'buy' | 'sell' {
  return side === 'BUY' ? 'buy' : 'sell';
}
