import type { GraphQLSchema } from 'graphql';
import type { HeaderForwarding } from '../../lib/forwarded-headers.ts';
import type { Token, TokenStatus } from '../../lib/limits/request-caller.ts';
import type { Log } from '../../lib/log.ts';
import type { Tracing } from '../../lib/tracing/tracing.ts';
import type { ClientLimits } from '../admission/client-limits.ts';
import type { Pipeline } from '../execution/pipeline.ts';
import type { ErrorMasking } from '../operation/error-masking.ts';
import type { LimitLabel } from '../operation/limits.ts';
import type { AccessLog, ServerMetrics } from './access-log.ts';
import type { ClientAddresses } from './client-address.ts';
import type { CONNECTIONS, OpenConnections } from './open-connections.ts';
import type { AllowedOrigins } from './origins.ts';
import type { Readiness } from './readiness.ts';
import type { AuthCookie, BearerTokens } from './tokens.ts';

/** The options of the engine that all transports use. */
export interface ServerOptions {
  readonly log: Log;
  readonly schema: GraphQLSchema;
  /** The time of the header `Date`, which may differ from this machine's. */
  readonly dateMs: () => number;
  /** Looks up what is known about a request's token. */
  readonly tokenStatusOf: (token: Token | null) => TokenStatus | undefined;
  /** Returns the close reason if an error that ends a subscription also closes its socket by 4403; otherwise null. */
  readonly tokenEndOf: (error: unknown) => string | null;
  readonly origins: AllowedOrigins;
  readonly maxBodyBytes: number;
  /** The path prefix that a proxy may leave in a request's target; '' for none. */
  readonly publicPath: string;
  readonly readiness: Readiness;
  readonly connections: typeof CONNECTIONS;
  readonly tracing: Tracing | null;
}

export interface ServerSettings extends ServerOptions {
  readonly pipeline: Pipeline;
  readonly limits: ClientLimits;
  readonly masking: ErrorMasking;
  readonly metrics: ServerMetrics;
  /** Counts a refusal by a limit before there is an operation. */
  readonly refused: (limit: LimitLabel) => void;
  readonly addresses: ClientAddresses;
  readonly openConnections: OpenConnections;
  readonly cookie: AuthCookie | null;
  readonly tokens: BearerTokens;
  readonly forwarding: HeaderForwarding;
  readonly accessLog: AccessLog;
}
