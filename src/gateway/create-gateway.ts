import { steadyClock, systemClock } from '../lib/clock.ts';
import { createGatewayClient, type GatewayClientOptions } from './client.ts';
import { createClockSkew } from './clock-skew.ts';
import { createWire, type WireParts } from './create-wire.ts';
import { MissingFields } from './missing-fields.ts';
import { OPERATIONS } from './operations.ts';
import { gatewayWidths } from './pools.ts';

export interface GatewayOptions
  extends WireParts,
    Omit<GatewayClientOptions, 'send' | 'onBroken' | 'onRead'> {
  readonly url: string;
  /** The most connections over all areas. */
  readonly gatewayConnections: number;
}

export type Gateway = ReturnType<typeof createGateway>;

/** Wires the client of the gateway. */
export function createGateway(options: GatewayOptions) {
  const { metrics, log } = options;
  const writesTexts = new Set<string>();
  const missingFields = new MissingFields();
  const clockSkew = createClockSkew(systemClock, steadyClock);
  let isClockWrong = false;
  const onReadsRecovered = new Set<() => void>();
  const { send, resilience, degradedReason, close } = createWire({
    ...options,
    operations: OPERATIONS,
    widths: gatewayWidths(options.gatewayConnections),
    observe(call, _outcome, _ms, exchange) {
      clockSkew.saw(call, exchange);
      const detail = clockSkew.degradedReason();
      if ((detail !== null) !== isClockWrong) {
        isClockWrong = !isClockWrong;
        log.warn({ state: isClockWrong ? 'wrong' : 'right', detail }, 'clock');
      }
    },
    onRecovered(backend) {
      if (backend === 'reads') for (const listener of onReadsRecovered) listener();
    },
  });
  metrics.missingFields.fromEach(() => missingFields.series());
  metrics.pollsWaiting.from(() => resilience.pollsWaiting);
  metrics.clockSkew.from(() => (clockSkew.ms === null ? null : clockSkew.ms / 1000));
  return {
    client: createGatewayClient({
      ...options,
      send,
      onBroken: (operation) => metrics.brokenAnswers.add(operation),
      onRead(operation, reading) {
        const { inexactFigures, texts } = reading;
        missingFields.saw(operation, reading);
        metrics.inexactFigures[operation]?.add(inexactFigures);
        if (texts === 0 || writesTexts.has(operation)) return;
        writesTexts.add(operation);
        log.info({ operation, texts }, 'the gateway writes numbers or times as texts');
      },
    }),
    clockSkew,
    /** Calls the listener each time a breaker of the reads has closed. */
    onReadsRecovered(listener: () => void): void {
      onReadsRecovered.add(listener);
    },
    degradedReason,
    close,
  };
}
