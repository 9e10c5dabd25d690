import { SUBMITTED } from '../../gateway/operations/submitted.ts';
import type { Context, UserCall } from '../call.ts';
import type { DeskAnswer } from '../desk.ts';
import { json, type Reply } from '../http.ts';
import { TEST_EMPTY, TEST_SLOW, TEST_UNKNOWN } from '../listings.ts';
import { type OrderRequest, type Read, readLimitOrder, readMarketOrder } from '../order-request.ts';
import { authenticated, malformed } from '../refusals.ts';

/** Operation 4. */
export const openPosition = authenticated((call, context) => {
  return submit(call, context, readMarketOrder(call.body, context.directionField));
});

/** Operation 5. */
export const placeLimitOrder = authenticated((call, context) => {
  return submit(call, context, readLimitOrder(call.body, context.directionField));
});

async function submit(call: UserCall, context: Context, read: Read<OrderRequest>): Promise<Reply> {
  if (read.kind === 'malformed') {
    return malformed(call.operation, read.malformed.field, read.malformed.problem);
  }
  const { request } = read;
  if (request.symbol === TEST_EMPTY) return json(200, {});
  // The order is applied after the wait, even if the client has disconnected. The world is read before the wait, so that a
  // reset in the meantime discards the order.
  const { world } = context;
  if (request.symbol === TEST_SLOW && !(await context.wait(context.slowMs))) {
    return { status: 503, body: '', lost: true };
  }
  const reply = replyOf(world.desk.place(world.account(call.user), request));
  return request.symbol === TEST_UNKNOWN ? { ...reply, lost: true } : reply;
}

/** A well-formed order that the desk rejects is no error: 200 with `success: false`. */
function replyOf(placed: DeskAnswer): Reply {
  const { kind } = placed;
  const accepted = { error: '', message: 'Order accepted.' };
  const answer =
    kind === 'refused'
      ? { success: false, orderId: '', ...placed.refusal }
      : { success: true, orderId: placed.orderId, ...accepted };
  return json(200, SUBMITTED.toWire(answer));
}
