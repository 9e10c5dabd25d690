import { fileURLToPath } from 'node:url';
import { freePort } from '../../test/support/free-ports.ts';
import { accepting } from './accepting.ts';
import { CONTESTANT_CORE } from './cores.ts';
import { LiveCrowd } from './live-crowd.ts';
import type { LiveGateway } from './live-gateway.ts';
import { ProbedProcess } from './probed-process.ts';

export type LiveName = 'ours' | 'bare loop' | 'libraries alone';

/** A running server and its subscribers. */
export interface LiveContestant extends AsyncDisposable {
  readonly port: number;
  readonly process: ProbedProcess;
  readonly crowd: LiveCrowd;
  /** Another crowd, which comes later, or instead. */
  gather(): LiveCrowd;
}

export interface LiveSettings {
  readonly intervalMs: number;
  /** The message that the bare loop sends, whatever it received. */
  readonly message?: string;
  /** Whether its crowds take packed messages. */
  readonly isPacked?: boolean;
  readonly environment?: Readonly<Record<string, string>>;
}

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

const SCRIPTS: Readonly<Record<LiveName, string>> = {
  ours: '../../src/main.ts',
  'bare loop': '../contestants/bare-live.ts',
  'libraries alone': '../contestants/library-live.ts',
};

export async function startLive(
  name: LiveName,
  gateway: LiveGateway,
  { intervalMs, message = '', isPacked = false, environment }: LiveSettings,
): Promise<LiveContestant> {
  const port = await freePort();
  const child = new ProbedProcess({
    script: fileURLToPath(new URL(SCRIPTS[name], import.meta.url)),
    core: CONTESTANT_CORE,
    nodeFlags: ['--expose-gc'],
    environment: {
      NODE_ENV: 'production',
      PORT: String(port),
      ADMIN_PORT: '0',
      ORDER_STORE: 'memory',
      LOG_LEVEL: 'warn',
      GATEWAY_URL: gateway.url,
      POSITIONS_POLL_MS: String(intervalMs),
      GATEWAY_POLLS_PER_SECOND: '100000',
      // A quarter of them are the polls', which gives as many as the bare loop has.
      GATEWAY_CONNECTIONS: '512',
      RATE_LIMIT_PER_MINUTE: '1000000000',
      COST_LIMIT_PER_MINUTE: '1000000000000',
      MESSAGE: message,
      ...environment,
    },
  });
  await accepting(child, port);
  const crowd = new LiveCrowd(port, { isPacked });
  const crowds = [crowd];
  return {
    port,
    process: child,
    crowd,
    gather() {
      const another = new LiveCrowd(port, { isPacked });
      crowds.push(another);
      return another;
    },
    async [Symbol.asyncDispose]() {
      for (const each of crowds) each.close();
      await child[Symbol.asyncDispose]();
    },
  };
}
