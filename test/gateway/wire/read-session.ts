import { isSnapshotOf, SESSION, sessionOf } from '../../../src/gateway/operations/get-session.ts';
import type { Reading } from '../../../src/gateway/scalars.ts';

/** The session that op 10 reads from a body; null if it is not a snapshot of this login. */
export function toSession(body: unknown, login: string, reading: Reading) {
  if (!isSnapshotOf(login, body)) return null;
  const value = SESSION.read(body, reading);
  return value && sessionOf(value, login);
}
