import { addressKey } from '../../../lib/address-key.ts';
import type { RequestCaller } from '../../../lib/caller.ts';
import type { Clock } from '../../../lib/clock.ts';
import { growingLru } from '../../../lib/growing-lru.ts';
import type { Log } from '../../../lib/log.ts';
import { logHash } from '../../../lib/log-hash.ts';
import { redactTokens } from '../../../lib/redact.ts';
import type { BackendCall, RequestEnd, RequestSummary } from '../../operation/request-summary.ts';
import { summedRefusals } from './refusal-sums.ts';
import type { ServerMetrics } from './server-metrics.ts';

export interface AccessLogOptions {
  readonly log: Pick<Log, 'line' | 'isLevelEnabled'>;
  readonly clock: Clock;
  /** The share of healthy, quick queries and subscriptions that is logged. */
  readonly sample: number;
  /** The key of the hashes of accounts and addresses; null for one of this process. */
  readonly accountKey: string | null;
  /** The member of a line that has the time with a backend's call under way. */
  readonly callsMember: string;
  /** Counts each request that has ended, logged or not. */
  readonly metrics: Pick<ServerMetrics, 'requestEnded'>;
}

// A person notices that they wait.
const SLOW_MS = 1_000;
const HASHES = 10_000;

export type AccessLog = ReturnType<typeof createAccessLog>;

/** Writes a line for each request when it has ended, and for a subscription also when it has begun. */
export function createAccessLog(options: AccessLogOptions) {
  const { log, clock, sample, callsMember, metrics, accountKey: key } = options;
  // LOG_LEVEL does not change while the process runs.
  const isLogged = log.isLevelEnabled('info');
  const hashes = growingLru<string, string>({ maxEntries: HASHES, entryBytes: 150 });
  const hasLine = summedRefusals(clock, (members) => log.line(members, 'requests refused'));
  /** Multiplies each healthy line to the number of requests that it stands for. */
  const sampleMember = sample < 1 ? `,"sample":${sample}` : '';

  function isSampled(summary: RequestSummary): boolean {
    summary.isSampled ??= sample === 1 || Math.random() < sample;
    return summary.isSampled;
  }

  /** The text of the line, which is put together by hand: an object and its serialization take twice as long. */
  function membersOf(summary: RequestSummary, end: RequestEnd, caller: RequestCaller): string {
    const { type, outcome, reason, codes, calls, callCount, bytesIn, bytesOut } = summary;
    const { status } = end;
    let members = origin(summary);
    if (status !== null) members += `,"status":${status}`;
    if (type !== null) members += `,"type":"${type}","document":"${documentOf(summary)}"`;
    members += `,"outcome":"${outcome}"`;
    if (codes.length > 0) members += `,"codes":["${codes.join('","')}"]`;
    if (reason !== null) members += `,"reason":"${reason}"`;
    members += `,"durationMs":${tenths(end.durationMs)}`;
    if (callCount > 0) members += `,"${callsMember}":${tenths(summary.callsMs)}`;
    if (callCount > 0) members += `,"calls":[${callTexts(calls)}]`;
    if (callCount > calls.length) members += `,"callCount":${callCount}`;
    const { partsMs } = summary;
    if (partsMs.length > 0) members += `,"partsMs":[${partsMs.map(tenths).join(',')}]`;
    if (summary.hasStarted) members += `,"events":${summary.results}`;
    members += `,"bytesIn":${bytesIn},"bytesOut":${bytesOut}`;
    return members + accountOf(summary, caller);
  }

  /** A token that was not accepted may name somebody else's account. */
  function accountOf({ claimedAccount }: RequestSummary, { standing, forwarded }: RequestCaller) {
    if (claimedAccount === null) return '';
    const member = standing?.isAccepted === true ? 'account' : 'claimedAccount';
    // The headers may be secrets, and are as easy to guess as an account.
    const tenant = forwarded ? `,"tenant":"${hashOf(forwarded.digest)}"` : '';
    return `,"${member}":"${hashOf(claimedAccount)}"${tenant}`;
  }

  /** Stands for a client's address in other lines as well. */
  const addressHash = (address: string) => hashOf(addressKey(address));

  function hashOf(text: string): string {
    const known = hashes.get(text);
    if (known !== undefined) return known;
    const hash = logHash(key, text);
    hashes.set(text, hash);
    return hash;
  }

  return {
    addressHash,
    /** A subscription is followed from here on. */
    subscribed(summary: RequestSummary, caller: RequestCaller): void {
      summary.hasStarted = true;
      if (!isLogged || !isSampled(summary)) return;
      let members = `${origin(summary)},"document":"${documentOf(summary)}"`;
      members += accountOf(summary, caller) + client(summary);
      log.line(members, 'subscription started');
    },
    /** Counts once, however many signs of the end there are. */
    ended(summary: RequestSummary, caller: RequestCaller, status: number | null): void {
      if (summary.hasEnded) return;
      summary.hasEnded = true;
      const durationMs = performance.now() - summary.startedAtMs;
      const end = { durationMs, status };
      metrics.requestEnded(summary, end);
      if (!isLogged) return;
      const isSlow = !summary.hasStarted && durationMs >= SLOW_MS;
      const { outcome, codes, type } = summary;
      // A mutation without errors may have an outcome that somebody looks for.
      const isLeftOut = outcome === 'ok' && !isSlow && type !== 'mutation' && !isSampled(summary);
      if (isLeftOut) return;
      const isBlamed = isSlow || outcome === 'refused' || outcome === 'caller';
      // It shows which client goes on with what is slow, or is refused for a reason of its own.
      const address =
        isBlamed && caller.client ? `,"address":"${addressHash(caller.client.address)}"` : '';
      if (outcome === 'refused' && !hasLine(`"codes":["${codes.join('","')}"]${address}`)) return;
      log.line(
        membersOf(summary, end, caller) + address + client(summary) + sampleMember,
        summary.hasStarted ? 'subscription ended' : 'request',
      );
    },
  };
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
