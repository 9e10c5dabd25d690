import { growingLru, memo } from '../../lib/caches.ts';
import type { Clock } from '../../lib/clock.ts';
import { addressKey, type RequestCaller } from '../../lib/limits/request-caller.ts';
import type { Log } from '../../lib/log.ts';
import { logHash } from '../../lib/log-hash.ts';
import type { MetricsRegistry } from '../../lib/metrics-registry.ts';
import {
  type BackendCall,
  OUTCOMES,
  type RequestSummary,
  type Transport,
} from '../core/request-summary.ts';
import { CUTS } from './open-connections.ts';

export interface AccessLogOptions {
  readonly log: Pick<Log, 'line' | 'isLevelEnabled'>;
  readonly clock: Clock;
  /** The share of healthy, quick queries and subscriptions that is logged. */
  readonly logSample: number;
  /** The key for hashing accounts and addresses; null for a key of this process. */
  readonly logAccountKey: string | null;
  /** Counts each request that has ended, whether it is logged or not. */
  readonly metrics: Pick<ServerMetrics, 'requestEnded'>;
}

// A user notices a longer wait.
const SLOW_MS = 1_000;
const MAX_HASHES = 10_000;
const MINUTE_MS = 60_000;
// The limit for a minute: a flood must not fill the log. The metrics count all refusals.
const MAX_REFUSED_LINES = 100;

/** Ends requests: their spans, their metrics and their lines in the log. */
export class AccessLog {
  readonly #options: AccessLogOptions;
  // LOG_LEVEL does not change while the process runs.
  readonly #isLogged: boolean;
  readonly #hashes = growingLru<string, string>({ maxEntries: MAX_HASHES, entryBytes: 150 });
  /** The number of refused requests in the current minute. */
  #refused = 0;

  constructor(options: AccessLogOptions) {
    this.#options = options;
    this.#isLogged = options.log.isLevelEnabled('info');
  }

  /** Ends a request once, even if its end is reported more than once. */
  ended(summary: RequestSummary, caller: RequestCaller, status: number | null): void {
    if (summary.hasEnded) return;
    summary.hasEnded = true;
    summary.endTrace(status);
    const durationMs = performance.now() - summary.startedAtMs;
    this.#options.metrics.requestEnded(summary, durationMs);
    const isSlow = !summary.hasEvents && durationMs >= SLOW_MS;
    if (!this.#isLogged || this.#isLeftOut(summary, isSlow)) return;
    const { outcome, codes, calls, callCount, bytesOut } = summary;
    const isBlamed = isSlow || outcome === 'refused' || outcome === 'caller';
    const line = {
      ...this.#membersOf(summary, caller),
      status: status ?? undefined,
      outcome,
      codes: codes.length > 0 ? codes : undefined,
      durationMs: roundToTenths(durationMs),
      calls: callCount > 0 ? calls.map(callText) : undefined,
      callCount: callCount > calls.length ? callCount : undefined,
      events: summary.hasEvents ? summary.results : undefined,
      bytesOut,
      // The address shows which client keeps sending slow requests, or is refused for its own mistakes.
      address:
        isBlamed && caller.sender ? this.#hashOf(addressKey(caller.sender.address)) : undefined,
    };
    this.#options.log.line(line, summary.hasEvents ? 'subscription ended' : 'request');
  }

  #isLeftOut(summary: RequestSummary, isSlow: boolean): boolean {
    if (summary.outcome === 'refused') return this.#exceedsRefusedLines();
    // A healthy mutation is always logged: its outcome may be looked up later.
    const isPlain = summary.outcome === 'ok' && !isSlow && summary.type !== 'mutation';
    return isPlain && Math.random() >= this.#options.logSample;
  }

  #exceedsRefusedLines(): boolean {
    if (this.#refused === 0) {
      this.#options.clock.after(MINUTE_MS, () => {
        this.#refused = 0;
      });
    }
    this.#refused += 1;
    return this.#refused > MAX_REFUSED_LINES;
  }

  /** The members that identify a request. */
  #membersOf(summary: RequestSummary, { tokenStatus }: RequestCaller) {
    const { requestId, trace, transport, method, operationName, type, naming } = summary;
    const { claimedAccount, isTrusted } = summary;
    const account = claimedAccount === null ? undefined : this.#hashOf(claimedAccount);
    const isAccepted = tokenStatus?.isAccepted === true;
    const document = isTrusted ? 'trusted' : 'other';
    return {
      requestId,
      transport,
      traceId: trace?.traceId,
      method: method ?? undefined,
      operationName: operationName ?? undefined,
      type: type ?? undefined,
      document: type === null ? undefined : document,
      account: isAccepted ? account : undefined,
      // A token that was not accepted may name another user's account.
      claimedAccount: isAccepted ? undefined : account,
      client: naming?.name,
      clientVersion: naming?.version ?? undefined,
    };
  }

  #hashOf(text: string): string {
    return memo<string, string>(this.#hashes, text, () =>
      logHash(this.#options.logAccountKey, text),
    );
  }
}

/** One text for each call: it is shorter in the log than an object, and as easy to search. */
function callText({ operation, source, outcome, ms }: BackendCall): string {
  return `${operation} ${source === 'call' ? outcome : source} ${roundToTenths(ms)}ms`;
}

function roundToTenths(ms: number): number {
  return Math.round(ms * 10) / 10;
}

const TRANSPORTS: readonly Transport[] = ['http', 'sse', 'websocket'];
const SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export class ServerMetrics {
  readonly connectionsCut;
  readonly #operations;
  readonly #seconds;

  constructor(registry: MetricsRegistry) {
    const labels = { transport: TRANSPORTS, outcome: OUTCOMES };
    this.#operations = registry.counter(
      'operations_total',
      'GraphQL requests that have ended.',
      labels,
    );
    this.#seconds = registry.histogram(
      'request_seconds',
      'Duration of queries and mutations.',
      SECONDS,
      labels,
    );
    this.connectionsCut = registry.counter(
      'connections_cut_total',
      'Connections closed because of what they sent or left unread.',
      { reason: [...CUTS, 'pipelined'] },
    );
  }

  requestEnded({ transport, outcome, hasEvents }: RequestSummary, durationMs: number) {
    this.#operations.inc({ transport, outcome });
    // The lifetime of a subscription does not measure the service's speed.
    if (!hasEvents) this.#seconds.observe({ transport, outcome }, durationMs / 1000);
  }
}
