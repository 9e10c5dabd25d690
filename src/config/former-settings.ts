/** Reports settings of earlier versions that are still set. */
export function* formerSettings(
  env: Readonly<Record<string, string | undefined>>,
): Generator<string> {
  const { ORDER_JOURNAL: journal } = env;
  if (!journal) return;
  // Ignoring the setting would lose the journal's orders, which could then be sent again.
  yield journal === 'memory'
    ? 'ORDER_JOURNAL=memory: must be unset; the setting is now ORDER_STORE=memory'
    : `ORDER_JOURNAL=${journal}: must be unset; orders are now recorded in ORDER_STORE, which does not have those of the journal: let the earlier version take no orders for 24 hours and then unset it, or unset it and remove the journal at once if its orders may be sent again`;
}
