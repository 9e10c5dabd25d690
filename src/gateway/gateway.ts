import { steadyClock, systemClock } from '../lib/clock.ts';
import type { GatewayClient } from './client.ts';
import { ClockSkew } from './clock-skew.ts';
import { OPERATIONS } from './operations.ts';
import { Origin, type OriginParts, type OriginSettings } from './origin.ts';
import { gatewayWidths } from './pools.ts';

interface GatewayOptions extends OriginParts, OriginSettings {
  readonly url: string;
  /** The most connections over all areas. */
  readonly gatewayConnections: number;
}

/** The trading gateway: the origin of all operations, whose clock is compared with this machine's. */
export class Gateway {
  readonly clockSkew = new ClockSkew(systemClock, steadyClock);
  readonly #origin: Origin;
  readonly #recoveryListeners = new Set<() => void>();
  #isClockWrong = false;

  constructor(options: GatewayOptions) {
    const { metrics, log } = options;
    this.#origin = new Origin({
      ...options,
      operations: OPERATIONS,
      widths: gatewayWidths(options.gatewayConnections),
      observe: (call, _outcome, _ms, exchange) => {
        this.clockSkew.saw(call, exchange);
        const detail = this.clockSkew.degradedReason();
        if ((detail !== null) === this.#isClockWrong) return;
        this.#isClockWrong = !this.#isClockWrong;
        log.warn({ state: this.#isClockWrong ? 'wrong' : 'right', detail }, 'clock');
      },
      onRecovered: (backend) => {
        if (backend === 'reads') for (const listener of this.#recoveryListeners) listener();
      },
    });
    metrics.watchClock(this.clockSkew);
  }

  get client(): GatewayClient {
    return this.#origin.client;
  }

  /** Calls the listener each time a breaker of the reads has closed. */
  onReadsRecovered(listener: () => void): void {
    this.#recoveryListeners.add(listener);
  }

  degradedReason(): string | null {
    return this.#origin.degradedReason();
  }

  close(): Promise<void> {
    return this.#origin.close();
  }
}
