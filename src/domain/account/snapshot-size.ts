import type { SessionAnswer } from '../../gateway/answers.ts';
import type { Order } from '../../gateway/model.ts';

// Measured by what the heap holds, as its test does again.
const BYTES_OF_A_SNAPSHOT = 1_000;
const BYTES_OF_A_POSITION = 48;
const BYTES_OF_AN_ORDER = 445;

/** A snapshot as it is cached. */
export function withoutRows(answer: SessionAnswer): SessionAnswer {
  const { session } = answer;
  if (session.positions === null) return answer;
  return { ...answer, session: { ...session, positions: { ...session.positions, rows: null } } };
}

export function bytesOfSnapshot({ session: { positions, orders } }: SessionAnswer): number {
  const rows = (orders ?? []).reduce((sum, order) => sum + bytesOfOrder(order), 0);
  return BYTES_OF_A_SNAPSHOT + (positions?.ids.length ?? 0) * BYTES_OF_A_POSITION + rows;
}

function bytesOfOrder({ name, logo, comment }: Order): number {
  return BYTES_OF_AN_ORDER + (name?.length ?? 0) + (logo?.length ?? 0) + (comment?.length ?? 0);
}
