import type { SessionAnswer } from '../../gateway/answers.ts';
import type { Order, Position } from '../../gateway/model.ts';

// Measured by what the heap holds, as its test does again.
const BYTES_OF_A_SNAPSHOT = 1_000;
const BYTES_OF_A_POSITION = 48;
const BYTES_OF_A_ROW = 490;
const BYTES_OF_AN_ORDER = 445;

/** A snapshot as it is cached where nobody has asked for its rows. */
export function withoutRows(answer: SessionAnswer): SessionAnswer {
  const { session } = answer;
  if (session.positions === null) return answer;
  return { ...answer, session: { ...session, positions: { ...session.positions, rows: null } } };
}

export function bytesOfSnapshot({ session: { positions, orders } }: SessionAnswer): number {
  const listed = (positions?.ids.length ?? 0) * BYTES_OF_A_POSITION;
  const rows = bytesOf(positions?.rows, BYTES_OF_A_ROW) + bytesOf(orders, BYTES_OF_AN_ORDER);
  return BYTES_OF_A_SNAPSHOT + listed + rows;
}

function bytesOf(rows: readonly (Position | Order)[] | null | undefined, each: number): number {
  return (rows ?? []).reduce(
    (sum, { name, logo, comment }) =>
      sum + each + (name?.length ?? 0) + (logo?.length ?? 0) + (comment?.length ?? 0),
    0,
  );
}
