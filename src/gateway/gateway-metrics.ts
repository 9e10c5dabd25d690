import { memo } from '../lib/memo.ts';
import { byName, type Count, type Registry } from '../lib/metrics/registry.ts';
import { CALL_OUTCOMES, type CallOutcome } from './caller.ts';
import { CONNECTION_FAULTS, connectionFault } from './connection-fault.ts';
import type { Exchange, WireCall } from './exchange.ts';
import type { GatewayOperation } from './operation.ts';
import { READ_NAMES } from './operations.ts';
import type { Pools } from './pools.ts';
import type { Resilience } from './resilience/resilience.ts';

const CALL_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export type GatewayMetrics = ReturnType<typeof createGatewayMetrics>;

/** The metrics of gateway calls. A live feed's polls are counted apart from calls that clients wait for. */
export function createGatewayMetrics(registry: Registry) {
  const seconds = registry.histogram(
    'gateway_call_seconds',
    'Duration of the calls of the gateway that went onto the wire.',
    CALL_SECONDS,
    { operation: [], origin: [] },
  );
  const calls = registry.counter(
    'gateway_calls_total',
    'Calls of the gateway and what came of each attempt; circuit, busy and expired: held back here.',
    { operation: [], origin: [], outcome: [] },
  );
  const register = (operation: string, origin: string) => ({
    seconds: seconds.register(operation, origin),
    outcomes: byName(CALL_OUTCOMES, (outcome) => calls.register(operation, origin, outcome)),
  });
  const ofRequests = new Map<string, ReturnType<typeof register>>();
  const ofPolls = new Map([['getOpenPositions', register('getOpenPositions', 'poll')]]);
  /** A poll of an extension's list may read whatever its `read` asks for. */
  const ofPoll = (operation: string) => memo(ofPolls, operation, () => register(operation, 'poll'));
  const retries = registry.counter('gateway_retries_total', 'Repeated calls of the gateway.', {
    operation: [],
  });
  const lost = registry.counter(
    'gateway_connections_lost_total',
    'Connections to the gateway that could not be made or broke, by the error’s code.',
    { cause: CONNECTION_FAULTS },
  );
  const brokenAnswers = registry.counter(
    'gateway_answers_broken_total',
    'Answers of success whose body breaks the interface.',
    { operation: [...READ_NAMES, 'login'] },
  );
  const inexact = registry.counter(
    'gateway_figures_inexact_total',
    'Figures beyond ± 2^53, which are null; those of a catalog are the nearest double.',
    { operation: [] },
  );
  const inexactFigures: Partial<Record<string, Count>> = byName(READ_NAMES, (operation) =>
    inexact.register(operation),
  );
  const circuits = registry.gauge(
    'circuit_open',
    '1 while the breaker of a backend, or of one of its operations, is open or half-open.',
    'backend',
  );
  const connections = registry.gauge(
    'gateway_connections',
    'Connections to the gateway by area, in use and open; max is their bound.',
    'area',
    'state',
  );
  const queued = registry.gauge(
    'gateway_calls_waiting',
    'Calls that wait for a connection.',
    'area',
  );
  const pollsWaiting = registry.gauge(
    'gateway_polls_waiting',
    'Polls that wait for a connection that polls may use.',
  );
  const clockSkew = registry.gauge(
    'gateway_clock_skew_seconds',
    'How far the gateway’s clock is ahead of this machine’s, by the median of ten answers.',
  );

  const missingFields = registry.gauge(
    'gateway_missing_fields',
    '1 while the last answer of an operation lacked the field in each of its rows; fields that the interface calls optional do not count.',
    'operation',
    'field',
  );

  const seriesOf = ({ operation, caller }: WireCall) =>
    caller.priority === 'poll' ? ofPoll(operation) : ofRequests.get(operation);

  return {
    brokenAnswers,
    inexactFigures,
    missingFields,
    pollsWaiting,
    clockSkew,
    called(call: WireCall, outcome: CallOutcome, ms: number, exchange: Exchange): void {
      const series = seriesOf(call);
      series?.seconds.observe(ms / 1000);
      series?.outcomes[outcome].add();
      const fault = connectionFault(outcome, exchange);
      if (fault !== null) lost.add(fault);
    },
    heldBack(call: WireCall, outcome: CallOutcome): void {
      seriesOf(call)?.outcomes[outcome].add();
    },
    retried: ({ operation }: WireCall) => retries.add(operation),
    /** Adds the series of all operations of one origin. */
    watch(
      operations: Readonly<Record<string, GatewayOperation>>,
      resilience: Resilience,
      pools: Pools,
    ): void {
      for (const [name, { effect }] of Object.entries(operations)) {
        ofRequests.set(name, register(name, 'request'));
        // Writes are never repeated here.
        if (effect === 'read') retries.register(name);
      }
      for (const backend of new Set(Object.values(operations).map((row) => row.backend))) {
        circuits.from(() => (resilience.isOpen(backend) ? 1 : 0), backend);
      }
      for (const [area, pool] of pools.byArea) {
        connections.from(() => pool.stats.running, area, 'used');
        connections.from(() => pool.stats.connected, area, 'open');
        connections.from(() => pools.widths[area] ?? 0, area, 'max');
        queued.from(() => pool.stats.queued + resilience.waiting(area), area);
      }
    },
  };
}
