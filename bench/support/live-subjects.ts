import { fileURLToPath } from 'node:url';
import type { LiveGateway } from './live-gateway.ts';
import { ALONE, OURS, UNLIMITED } from './ours.ts';
import { ProbedProcess } from './probed-process.ts';

export const QUERY = `subscription { positionChanges {
  cursor snapshot upserted { id symbol side units priceOpen priceCurrent profit } opened closed
  totals { count invested profit } status asOf
} }`;

/** The same positions, with the orders and the figures that the gateway is seldom asked for. */
export const ACCOUNT_QUERY = `subscription { accountChanges {
  cursor snapshot positions { upserted { id symbol side units priceOpen priceCurrent profit } opened closed }
  orders { upserted { id symbol side priceOpen } closed fetchedAt } session { id balance equity fetchedAt }
  totals { count invested profit } status asOf
} }`;

/** This project, or a loop that sends the same message to everybody, whatever it received. */
export function startLive(
  gateway: LiveGateway,
  intervalMs: number,
  loopMessage: string | null,
): Promise<ProbedProcess> {
  const loop = fileURLToPath(new URL('../subjects/bare-live.ts', import.meta.url));
  return ProbedProcess.listening({
    script: loopMessage === null ? OURS : loop,
    environment: {
      ...ALONE,
      ...UNLIMITED,
      LOG_LEVEL: 'warn',
      GATEWAY_URL: gateway.url,
      POSITIONS_POLL_MS: String(intervalMs),
      GATEWAY_POLLS_PER_SECOND: '100000',
      // A quarter of them are the polls', which gives as many as the bare loop has.
      GATEWAY_CONNECTIONS: '512',
      MESSAGE: loopMessage ?? '',
    },
  });
}
