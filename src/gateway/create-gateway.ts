import { steadyClock, systemClock } from '../../lib/clock.ts';
import { createRepeatedErrors } from '../../lib/repeated-errors.ts';
import { createCallAdapter, type LoadedAdapter, type OnAdapterFault } from './adapter.ts';
import { createGatewayClient, type GatewayClientOptions } from './client.ts';
import { createClockSkew } from './clock-skew.ts';
import { createWire, type WireParts } from './create-wire.ts';
import type { Exchange, WireCall } from './exchange.ts';
import { OPERATIONS, type OperationName } from './operations.ts';
import { gatewayWidths } from './pools.ts';

export interface GatewayOptions
  extends WireParts,
    Omit<GatewayClientOptions, 'send' | 'onBroken' | 'onRead'> {
  readonly url: string;
  /** The most connections over all areas. */
  readonly gatewayConnections: number;
  readonly orderWaitMs: number;
  /** A team's file for a gateway of another shape. */
  readonly adapter: LoadedAdapter | null;
}

export type Gateway = ReturnType<typeof createGateway>;

/** Wires the client of the gateway. */
export function createGateway(options: GatewayOptions) {
  const { metrics, log } = options;
  const writesTexts = new Set<OperationName>();
  const repeated = createRepeatedErrors(steadyClock.now);
  const tellFault: OnAdapterFault = (adapter, part, operation, error) => {
    const told = repeated(`${part} ${operation}`);
    if (told === null) return;
    log.error({ adapter, part, operation, err: error, ...told }, 'the gateway adapter failed');
  };
  const clockSkew = createClockSkew(systemClock, steadyClock);
  let isClockWrong = false;
  let onExchange: (call: WireCall, exchange: Exchange) => void = () => {};
  const onReadsRecovered = new Set<() => void>();
  const { send, resilience, degradedReason, close } = createWire({
    ...options,
    adapter: options.adapter && createCallAdapter(options.adapter, tellFault),
    operations: OPERATIONS,
    widths: gatewayWidths(options.gatewayConnections),
    observe(call, _outcome, _ms, exchange) {
      clockSkew.saw(call, exchange);
      const detail = clockSkew.degradedReason();
      if ((detail !== null) !== isClockWrong) {
        isClockWrong = !isClockWrong;
        log.warn({ state: isClockWrong ? 'wrong' : 'right', detail }, 'clock');
      }
      onExchange(call, exchange);
    },
    onRecovered(backend) {
      if (backend === 'reads') for (const listener of onReadsRecovered) listener();
    },
  });
  metrics.pollsWaiting.from(() => resilience.pollsWaiting);
  metrics.clockSkew.from(() => (clockSkew.ms === null ? null : clockSkew.ms / 1000));
  return {
    client: createGatewayClient({
      ...options,
      send,
      onBroken: (operation) => metrics.brokenAnswers.add(operation),
      onRead(operation, { inexactFigures, texts }) {
        metrics.inexactFigures[operation]?.add(inexactFigures);
        if (texts === 0 || writesTexts.has(operation)) return;
        writesTexts.add(operation);
        log.info({ operation, texts }, 'the gateway writes numbers or times as texts');
      },
    }),
    clockSkew,
    /** Calls the observer with each exchange, before its call ends. */
    observe(observer: typeof onExchange): void {
      onExchange = observer;
    },
    /** Calls the listener each time a breaker of the reads has closed. */
    onReadsRecovered(listener: () => void): void {
      onReadsRecovered.add(listener);
    },
    degradedReason,
    close,
  };
}
