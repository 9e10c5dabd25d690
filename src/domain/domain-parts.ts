import type { GatewayClient } from '../gateway/client.ts';
import type { ClockSkew } from '../gateway/clock-skew.ts';
import type { LogicalClock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { SharedStore } from '../store/shared-store.ts';
import type { TradingLimiter } from './auth/limits.ts';
import type { Verify } from './auth/verifier.ts';
import type { DomainMetrics } from './domain-metrics.ts';

/** The configuration's values that the domain layer depends on. */
interface DomainSettings {
  readonly authProofSeconds: number;
  readonly sessionMaxAgeSeconds: number;
  readonly gatewayLoginClaim: string;
  readonly gatewayGroupClaim: string;
  readonly gatewayForwardHeaders: readonly string[];
  readonly catalogMaxAgeSeconds: number;
  readonly catalogStaleSeconds: number;
  readonly positionsPollMs: number;
  readonly gatewayPollsPerSecond: number;
  readonly gatewayTimeoutMs: number;
  readonly orderTimeoutMs: number;
  readonly gatewayOrderNumbers: 'order' | 'position';
  readonly logAccountKey: string | null;
}

export interface DomainParts {
  readonly client: GatewayClient;
  readonly logicalClock: LogicalClock;
  readonly stores: SharedStore;
  readonly limiter: TradingLimiter;
  readonly metrics: DomainMetrics;
  /** How far the gateway's clock is ahead of this machine's; null: not known yet. */
  readonly clockSkew: Pick<ClockSkew, 'ms' | 'earlyMs' | 'aheadMs'>;
  readonly log: Log;
  /** Null where no key is configured. */
  readonly verify: Verify | null;
  readonly settings: DomainSettings;
  readonly heartbeatMs?: number | undefined;
  readonly cacheBytes: Readonly<Record<'catalogs' | 'sessions' | 'positions', number>>;
}
