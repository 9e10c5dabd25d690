import { steadyClock, systemClock } from '../lib/clock.ts';
import { ClockSkew } from './clock-skew.ts';
import { OPERATIONS } from './operations.ts';
import { Origin, type OriginParts, type OriginSettings } from './origin.ts';
import { gatewayWidths } from './pools.ts';

interface GatewayOptions extends OriginParts, OriginSettings {
  readonly url: string;
  /** The maximum number of connections in all areas together. */
  readonly gatewayConnections: number;
}

/** The trading gateway: the origin of all operations, whose clock is compared with this machine's. */
export class Gateway extends Origin {
  readonly clockSkew: ClockSkew;

  constructor(options: GatewayOptions) {
    const clockSkew = new ClockSkew(systemClock, steadyClock);
    super({
      ...options,
      operations: OPERATIONS,
      widths: gatewayWidths(options.gatewayConnections),
      observe: (call, _outcome, exchange) => clockSkew.saw(call, exchange),
    });
    this.clockSkew = clockSkew;
    options.metrics.watchClock(clockSkew);
  }
}
