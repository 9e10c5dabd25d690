import type { Clock } from '../../../lib/clock.ts';
import type { HeaderForwarding } from '../../../lib/forwarded-headers.ts';
import type { TokenStanding } from '../../../lib/limits/caller.ts';
import type { Log } from '../../../lib/log.ts';
import type { Token } from '../../../lib/token.ts';
import type { Tracing } from '../../../lib/tracing/tracing.ts';
import type { EngineLimiter, LimitLabel } from '../../operation/limits.ts';
import type { Pipeline } from '../../pipeline/pipeline.ts';
import type { MessageBudget } from '../connections/message-budget.ts';
import type { OpenConnections } from '../connections/open-connections.ts';
import type { AccessLog } from './access-log.ts';
import type { AuthCookie } from './auth-cookie.ts';
import type { ClientAddresses } from './client-address.ts';
import type { AllowedOrigins } from './origins.ts';
import type { ServerMetrics } from './server-metrics.ts';

/** The settings that all transports share. */
export interface ServerSettings {
  readonly graph: Pipeline;
  readonly log: Log;
  readonly metrics: ServerMetrics;
  /** Counts what is over a limit here, and no operation yet. */
  readonly refused: (limit: LimitLabel) => void;
  readonly limiter: EngineLimiter;
  /** Looks up what is known of the token of a request. */
  readonly standingOf: (token: Token | null) => TokenStanding | undefined;
  /** A steady one is best: only durations are measured. */
  readonly clock: Clock;
  /** Returns the reason with which an error that ends a subscription closes its socket by 4403; null where it does not. */
  readonly tokenEndOf: (error: unknown) => string | null;
  /** The interval of what keeps a quiet socket or event stream open. */
  readonly pingMs: number;
  readonly origins: AllowedOrigins;
  readonly addresses: ClientAddresses;
  readonly maxBodyBytes: number;
  readonly openConnections: OpenConnections;
  /** The unread bytes of a WebSocket beyond which its messages wait. */
  readonly unreadBytes: number;
  /** How long unread bytes may stay where they are. */
  readonly unreadMs: number;
  readonly messages: MessageBudget;
  /** Null where tokens come in headers alone. */
  readonly cookie: AuthCookie | null;
  readonly forwarding: HeaderForwarding;
  /** Null where tracing is off. */
  readonly tracing: Tracing | null;
  readonly accessLog: AccessLog;
}
