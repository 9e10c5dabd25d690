/** At so many megabits a second a whole catalog takes some ten seconds. */
const SLOW_DOWNLINK = 0.5;

/** Asks the Network Information API, which not every browser has. */
export function isSlowLine(): boolean {
  const { connection } = (globalThis.navigator ?? {}) as {
    readonly connection?: {
      readonly effectiveType?: string;
      readonly downlink?: number;
      readonly saveData?: boolean;
    };
  };
  if (connection === undefined) return false;
  const { effectiveType = '4g', downlink = SLOW_DOWNLINK, saveData = false } = connection;
  return saveData || effectiveType !== '4g' || downlink < SLOW_DOWNLINK;
}
