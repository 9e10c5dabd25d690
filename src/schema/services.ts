import type { Prover } from '../domain/account/prover.ts';
import type { Sessions } from '../domain/account/sessions.ts';
import type { Identify } from '../domain/auth/identity.ts';
import type { ClientOf } from '../domain/auth/proof.ts';
import type { ViewerGateway } from '../domain/auth/viewer-gateway.ts';
import type { WriteLimits } from '../domain/auth/write-limits.ts';
import type { Catalogs } from '../domain/catalog/catalogs.ts';
import type { PositionsHub } from '../domain/positions/hub.ts';
import type { ListPairs } from '../domain/positions/list-pairs.ts';
import type { OpenPositions } from '../domain/positions/open-positions.ts';
import type { OrderDesk } from '../domain/trading/order-desk.ts';
import type { GatewayClient } from '../gateway/client.ts';
import type { LogicalClock } from '../lib/clock.ts';

/** The dependencies of resolvers, created once per process by the composition root. */
export interface Services {
  readonly logicalClock: LogicalClock;
  readonly identify: Identify;
  readonly clientOf: ClientOf;
  readonly writeLimits: WriteLimits;
  /** Called with the end of each field `login`. */
  readonly onSignIn: (outcome: 'granted' | 'rejected' | 'limited' | 'failed') => void;
  /** The gateway without a user, for signing in. */
  readonly client: GatewayClient;
  /** The gateway as one viewer may use it. */
  readonly gateway: ViewerGateway;
  readonly sessions: Sessions;
  readonly catalogs: Catalogs;
  readonly openPositions: OpenPositions;
  readonly listPairs: ListPairs;
  readonly prover: Prover;
  readonly hub: PositionsHub;
  /** Resolves once nothing older than the account's last order, at any replica, is shown from memory. */
  readonly catchUp: (login: string) => Promise<void>;
  /** The size of an account's holdings, by login. Callers must have proof of the account. */
  readonly holdings: {
    positions(login: string): number;
    orders(login: string): number;
  };
  readonly orderDesk: OrderDesk;
}
