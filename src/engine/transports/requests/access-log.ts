import { addressKey } from '../../../lib/address-key.ts';
import type { Clock } from '../../../lib/clock.ts';
import { growingLru } from '../../../lib/growing-lru.ts';
import type { RequestCaller } from '../../../lib/limits/caller.ts';
import type { Log } from '../../../lib/log.ts';
import { logHash } from '../../../lib/log-hash.ts';
import { memo } from '../../../lib/memo.ts';
import { redactTokens } from '../../../lib/redact.ts';
import type { BackendCall, RequestEnd, RequestSummary } from '../../operation/request-summary.ts';
import { RefusalSums } from './refusal-sums.ts';
import type { ServerMetrics } from './server-metrics.ts';

export interface AccessLogOptions {
  readonly log: Pick<Log, 'line' | 'isLevelEnabled'>;
  readonly clock: Clock;
  /** The share of healthy, quick queries and subscriptions that is logged. */
  readonly sample: number;
  /** The key of the hashes of accounts and addresses; null for one of this process. */
  readonly accountKey: string | null;
  /** Counts each request that has ended, logged or not. */
  readonly metrics: Pick<ServerMetrics, 'requestEnded'>;
}

// A person notices that they wait.
const SLOW_MS = 1_000;
const MAX_HASHES = 10_000;

/** Writes a line for each request when it has ended, and for a subscription also when it has begun. */
export class AccessLog {
  readonly #options: AccessLogOptions;
  // LOG_LEVEL does not change while the process runs.
  readonly #isLogged: boolean;
  readonly #hashes = growingLru<string, string>({ maxEntries: MAX_HASHES, entryBytes: 150 });
  readonly #refusals: RefusalSums;
  /** Multiplies each healthy line to the number of requests that it stands for. */
  readonly #sampleMember: string;

  constructor(options: AccessLogOptions) {
    const { clock, log, sample } = options;
    this.#options = options;
    this.#isLogged = log.isLevelEnabled('info');
    this.#refusals = new RefusalSums(clock, (members) => log.line(members, 'requests refused'));
    this.#sampleMember = sample < 1 ? `,"sample":${sample}` : '';
  }

  /** Stands for a client's address in other lines as well. */
  addressHash(address: string): string {
    return this.#hashOf(addressKey(address));
  }

  /** Call it when the events of a subscription begin. */
  subscribed(summary: RequestSummary, caller: RequestCaller): void {
    summary.hasStarted = true;
    if (!this.#isLogged || !this.#isSampled(summary)) return;
    let members = `${origin(summary)},"document":"${documentOf(summary)}"`;
    members += this.#accountOf(summary, caller) + client(summary);
    this.#options.log.line(members, 'subscription started');
  }

  /** Counts once, however often the end of a request is reported. */
  ended(summary: RequestSummary, caller: RequestCaller, status: number | null): void {
    if (summary.hasEnded) return;
    summary.hasEnded = true;
    const durationMs = performance.now() - summary.startedAtMs;
    const end = { durationMs, status };
    this.#options.metrics.requestEnded(summary, end);
    if (!this.#isLogged) return;
    const isSlow = !summary.hasStarted && durationMs >= SLOW_MS;
    const { outcome, codes, type } = summary;
    // A mutation without errors may have an outcome that somebody looks for.
    const isSkipped =
      outcome === 'ok' && !isSlow && type !== 'mutation' && !this.#isSampled(summary);
    if (isSkipped) return;
    const isBlamed = isSlow || outcome === 'refused' || outcome === 'caller';
    // It shows which client goes on with what is slow, or is refused for a reason of its own.
    const address =
      isBlamed && caller.client ? `,"address":"${this.addressHash(caller.client.address)}"` : '';
    const isSummed =
      outcome === 'refused' && !this.#refusals.add(`"codes":["${codes.join('","')}"]${address}`);
    if (isSummed) return;
    this.#options.log.line(
      this.#membersOf(summary, end, caller) + address + client(summary) + this.#sampleMember,
      summary.hasStarted ? 'subscription ended' : 'request',
    );
  }

  #isSampled(summary: RequestSummary): boolean {
    const { sample } = this.#options;
    summary.isSampled ??= sample === 1 || Math.random() < sample;
    return summary.isSampled;
  }

  /** The text of the line, which is put together by hand: an object and its serialization take twice as long. */
  #membersOf(summary: RequestSummary, end: RequestEnd, caller: RequestCaller): string {
    const { type, outcome, reason, codes, calls, callCount, bytesIn, bytesOut } = summary;
    let members = origin(summary);
    if (end.status !== null) members += `,"status":${end.status}`;
    if (type !== null) members += `,"type":"${type}","document":"${documentOf(summary)}"`;
    members += `,"outcome":"${outcome}"`;
    if (codes.length > 0) members += `,"codes":["${codes.join('","')}"]`;
    if (reason !== null) members += `,"reason":"${reason}"`;
    members += `,"durationMs":${tenths(end.durationMs)}`;
    if (callCount > 0) members += `,"calls":[${callTexts(calls)}]`;
    if (callCount > calls.length) members += `,"callCount":${callCount}`;
    if (summary.hasStarted) members += `,"events":${summary.results}`;
    members += `,"bytesIn":${bytesIn},"bytesOut":${bytesOut}`;
    return members + this.#accountOf(summary, caller);
  }

  /** A token that was not accepted may name somebody else's account. */
  #accountOf({ claimedAccount }: RequestSummary, { standing, forwarded }: RequestCaller): string {
    if (claimedAccount === null) return '';
    const member = standing?.isAccepted === true ? 'account' : 'claimedAccount';
    // The headers may be secrets, and are as easy to guess as an account.
    const tenant = forwarded ? `,"tenant":"${this.#hashOf(forwarded.digest)}"` : '';
    return `,"${member}":"${this.#hashOf(claimedAccount)}"${tenant}`;
  }

  #hashOf(text: string): string {
    return memo<string, string>(this.#hashes, text, () => logHash(this.#options.accountKey, text));
  }
}

/** The members that say which request it was. An id's characters need no escape. */
function origin({ requestId, trace, transport, method, operationName }: RequestSummary): string {
  // A client chooses its id, so it may be a token.
  const id = requestId.includes('eyJ') ? redactTokens(requestId) : requestId;
  let members = `"requestId":"${id}","transport":"${transport}"`;
  const traceId = trace?.traceId;
  if (traceId != null) members += `,"traceId":"${traceId}"`;
  if (method !== null) members += `,"method":"${method}"`;
  if (operationName !== null) members += `,"operationName":${JSON.stringify(operationName)}`;
  return members;
}

function client({ client: naming }: RequestSummary): string {
  if (naming === null) return '';
  const { name, version } = naming;
  const members = `,"client":${JSON.stringify(name)}`;
  return version === null ? members : `${members},"clientVersion":${JSON.stringify(version)}`;
}

/** One text for each call: shorter in the log, and as easy to search, as an object. */
function callTexts(calls: readonly BackendCall[]): string {
  let texts = '';
  for (const { operation, source, outcome, ms } of calls) {
    const end = source === 'call' ? outcome : source;
    texts += `${texts === '' ? '' : ','}"${operation} ${end} ${tenths(ms)}ms"`;
  }
  return texts;
}

function documentOf({ isTrusted }: RequestSummary): 'trusted' | 'other' {
  return isTrusted ? 'trusted' : 'other';
}

function tenths(ms: number): number {
  return Math.round(ms * 10) / 10;
}
