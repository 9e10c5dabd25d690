import type { Graph } from '../graph.ts';
import type { Log } from '../lib/log.ts';
import type { Tracing } from '../lib/tracing/tracing.ts';
import type { SendBuffers } from './back-pressure/send-buffers.ts';
import type { AllowedOrigins } from './http/cors.ts';
import type { CountMessage } from './receive/message-budget.ts';
import type { ReceiveBuffers } from './receive/receive-buffers.ts';
import type { AccessLog } from './request/access-log.ts';
import type { BearerTokens } from './request/bearer.ts';
import type { ClientAddresses } from './request/client-address.ts';
import type { ClientNames } from './request/client-names.ts';
import type { RequestIds } from './request/request-id.ts';

/** The settings that all transports share. */
export interface ServerSettings {
  readonly graph: Graph;
  readonly log: Log;
  readonly origins: AllowedOrigins;
  readonly addresses: ClientAddresses;
  readonly maxBodyBytes: number;
  readonly buffers: SendBuffers;
  readonly received: ReceiveBuffers;
  readonly countMessage: CountMessage;
  readonly tokens: BearerTokens;
  readonly requestIds: RequestIds;
  /** Null where tracing is off. */
  readonly tracing: Tracing | null;
  readonly accessLog: AccessLog;
  readonly clientNames: ClientNames;
}
