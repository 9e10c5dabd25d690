import type { TypedText } from 'trading-graph-client';
import { tradingGraph } from './trading-graph';

export type Outcome = { __typename: string; message?: string | null };
const VOID: TypedText<{ order: Outcome | null }, { key: string; since: string }> =
  'mutation Void($key: String!, $since: DateTime) { order: voidOrder(idempotencyKey: $key, since: $since) { ...E } } fragment E on OrderOutcome { __typename idempotencyKey message }';
const CLOCK_ERROR_MS = 60_000;

/** `send` sends the mutation of your library with this key; `since` is when the key was made, less what this device's clock may be wrong by. */
export async function placeToItsEnd(
  send: () => Promise<Outcome | null | undefined>,
  key: string,
  since = new Date(Date.now() - CLOCK_ERROR_MS),
): Promise<Outcome | null> {
  const placed = (await send().catch(() => null)) ?? (await send().catch(() => null));
  // `OrderRejected` with `sent: false`: it was not placed, unless `earlierUnknown` is true. Null: nobody can be asked, so say that it is not known yet, and ask again.
  return (
    placed ??
    (await tradingGraph.mutate(VOID, { key, since: since.toISOString() })).data?.order ??
    null
  );
}
