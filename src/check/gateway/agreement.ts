import { isRow } from '../../gateway/wire/scalars.ts';
import { pause, systemClock } from '../../lib/clock.ts';
import type { CheckRun } from './check-run.ts';
import type { Session } from './claims.ts';
import { ALL_AT_ONCE } from './remedies.ts';
import type { Account } from './sign-in.ts';

const OPERATION = 'getOpenPositions';
const BETWEEN_MS = 1_000;

/**
 * Compares the positions of op 12 with those of op 10, one by one. A position may have been opened or closed between two answers,
 * so what differs is read again after a second.
 */
export async function judgeAgreement(
  run: CheckRun,
  { token }: Account,
  { login, json }: Session,
  positions: unknown,
): Promise<void> {
  const [held, listed] = [idsIn(json), idsIn(positions)];
  if (held === null || listed === null) return;
  if (without(held, listed).length + without(listed, held).length === 0) return;
  await pause(systemClock, BETWEEN_MS);
  const again = await run.call('getSession', 'read again', { token, path: { login } });
  const list = await run.call(OPERATION, 'read again', { token });
  const [heldNow, listedNow] = [idsIn(again.json), idsIn(list.json)];
  if (heldNow === null || listedNow === null) return;
  const find = (text: string) => run.find('problem', text, { operation: OPERATION });
  const apart = 'in two reads a second apart';
  const stillLacking = without(heldNow, listedNow);
  const lacking = without(held, listed).filter((id) => stillLacking.includes(id)).length;
  if (lacking > 0) {
    find(
      `It lacks ${lacking} of the ${heldNow.size} positions that op 10 lists, ${apart}: users would not see them. Where it has pages, ${ALL_AT_ONCE}.`,
    );
  }
  const stillMore = without(listedNow, heldNow);
  const more = without(listed, held).filter((id) => stillMore.includes(id)).length;
  if (more > 0) find(`Of its positions op 10 lacks ${more}, ${apart}.`);
}

/** Null where there is no list. */
function idsIn(json: unknown): Set<unknown> | null {
  if (!isRow(json) || !Array.isArray(json.positions)) return null;
  return new Set(json.positions.map((row) => (isRow(row) ? row.id : row)));
}

function without(ids: ReadonlySet<unknown>, others: ReadonlySet<unknown>): readonly unknown[] {
  return [...ids].filter((id) => !others.has(id));
}
