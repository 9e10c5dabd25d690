import type { Engine } from '../engine/engine.ts';
import type { Log } from '../lib/log.ts';
import type { ClientAddresses } from './client-address.ts';
import type { AllowedOrigins } from './cors.ts';
import type { RequestIds } from './request-id.ts';
import type { SendBuffers } from './send-buffers.ts';

/** The settings that all transports share. */
export interface ServerSettings {
  readonly engine: Engine;
  readonly log: Log;
  readonly origins: AllowedOrigins;
  readonly addresses: ClientAddresses;
  readonly maxBodyBytes: number;
  readonly buffers: SendBuffers;
  readonly requestIds: RequestIds;
}
