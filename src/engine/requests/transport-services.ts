import type { HeaderForwarding } from '../../lib/forwarded-headers.ts';
import type { Token, TokenStatus } from '../../lib/limits/request-caller.ts';
import type { Log } from '../../lib/log.ts';
import type { Readiness } from '../../lib/readiness.ts';
import type { OperationServices } from '../admission/admission.ts';
import type { ErrorMetrics } from '../core/error-masking.ts';
import type { Pipeline } from '../execution/pipeline.ts';
import type { AccessLog, ServerMetrics } from './access-log.ts';
import type { ClientAddresses } from './client-address.ts';
import type { CONNECTIONS, OpenConnections } from './open-connections.ts';
import type { AllowedOrigins } from './origins.ts';
import type { AuthCookie } from './tokens.ts';

/** The parts and options that all transports use. */
export interface TransportServices extends OperationServices {
  readonly pipeline: Pipeline;
  readonly log: Log;
  readonly accessLog: AccessLog;
  readonly metrics: ServerMetrics;
  readonly errorMetrics: ErrorMetrics;
  readonly readiness: Readiness;
  readonly addresses: ClientAddresses;
  readonly connections: typeof CONNECTIONS;
  readonly openConnections: OpenConnections;
  /** Null if tokens are sent in headers alone. */
  readonly cookie: AuthCookie | null;
  readonly forwarding: HeaderForwarding;
  readonly origins: AllowedOrigins;
  readonly maxBodyBytes: number;
  /** The path prefix that a proxy may leave in a request's target; '' for none. */
  readonly publicPath: string;
  /** The time of the header `Date`, which may differ from this machine's. */
  readonly dateMs: () => number;
  /** Looks up what is known about a request's token. */
  readonly tokenStatusOf: (token: Token | null) => TokenStatus | undefined;
  /** Returns the close reason if an error that ends a subscription also closes its socket by 4403; otherwise null. */
  readonly tokenEndOf: (error: unknown) => string | null;
}
