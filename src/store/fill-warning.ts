const WARN_SHARE = 0.8;
// Well below, or a store that hovers around the mark would warn at every order.
const REARM_SHARE = 0.7;

/** Warns once when a store gets nearly full, and again only after it had room in between. */
export function createFillWarning(max: number, onWarn: (message: string) => void) {
  let warned = false;
  return (held: number): void => {
    if (held < max * REARM_SHARE) warned = false;
    if (warned || held < max * WARN_SHARE) return;
    warned = true;
    onWarn(`${held} of at most ${max} order records are held; at ${max} new orders are refused`);
  };
}
