import { isRow } from '../../src/gateway/wire/scalars.ts';
import type { CheckRun } from './check-run.ts';
import type { Session } from './claims.ts';
import type { Account } from './sign-in.ts';

const OPERATION = 'getOpenPositions';

/**
 * Compares op 12 with op 10, which lists the positions as well. One pair of answers says nothing, since a position may have been
 * opened or closed in between: where one is empty and the other is not, both are read again.
 */
export async function judgeAgreement(
  run: CheckRun,
  { token }: Account,
  { login, json }: Session,
  positions: unknown,
): Promise<void> {
  if (!differ(json, positions)) return;
  const again = await run.call('getSession', 'read again', { token, path: { login } });
  const { json: listed } = await run.call(OPERATION, 'read again', { token });
  if (!differ(again.json, listed)) return;
  const text =
    countIn(listed) === 0
      ? `It lists no position, and op 10 lists ${countIn(again.json)}, in two reads of both: users would see an empty portfolio.`
      : `It lists ${countIn(listed)} positions, and op 10 none, in two reads of both.`;
  run.find('problem', text, { operation: OPERATION });
}

function differ(session: unknown, positions: unknown): boolean {
  const counts = [countIn(session), countIn(positions)];
  return !counts.includes(null) && counts.includes(0) && counts.some((count) => count !== 0);
}

/** Null where there is no list. */
function countIn(json: unknown): number | null {
  return isRow(json) && Array.isArray(json.positions) ? json.positions.length : null;
}
