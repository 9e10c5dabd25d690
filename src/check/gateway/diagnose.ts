import { jsonOf } from '../../gateway/answer-body.ts';
import { codeOf } from '../../gateway/classify.ts';
import { DeadlineError, UnsafePathError } from '../../gateway/errors.ts';
import type { Answer, NoAnswer } from '../../gateway/exchange.ts';
import { retryAfterSeconds } from '../../gateway/judge.ts';
import { reasonOf } from '../../lib/reason-of.ts';
import type { Finding } from './finding.ts';
import type { Recorded } from './probe.ts';

/** Why an operation failed, and the setting to look at. */
export type Fault = Pick<Finding, 'text' | 'setting'>;

/** Explains why an operation failed. `last`: its last call. `sent`: the method and the path of that call. */
export function diagnose(last: Recorded | undefined, error: unknown, sent: string): Fault {
  if (error instanceof UnsafePathError) {
    return { text: `The ${error.parameter} cannot be a part of a path, so it is never sent.` };
  }
  if (last === undefined) return { text: `Nothing was sent: ${reasonOf(error)}.` };
  const { call, exchange } = last;
  if (!exchange.sent) return notSent(exchange.cause);
  if (!exchange.answered) return noAnswer(exchange, call.deadlineMs);
  return ofAnswer(exchange, error, sent);
}

function ofAnswer(answer: Answer, error: unknown, sent: string): Fault {
  const { status, headers } = answer;
  if (/^\s*basic\b/i.test(headers['www-authenticate'] ?? '')) {
    const text = `Status ${status} asks for a user and a password (Basic): a proxy in front of the gateway needs a fixed header.`;
    return { text, setting: 'GATEWAY_HEADERS' };
  }
  if (status >= 300 && status <= 399) {
    const to = URL.parse(headers.location ?? '')?.origin ?? 'no address';
    const text = `Status ${status} for ${sent} is a redirect to ${to}, which is never followed.`;
    return { text, setting: 'GATEWAY_URL' };
  }
  if (status === 401) {
    const text = `Status 401 for ${sent}: the token is refused. Is it a valid token of this gateway, and is the path right?`;
    return { text, setting: 'CHECK_TOKEN' };
  }
  if (status === 403) {
    const text = `Status 403 for ${sent}: this account, or this machine's address, has no access. Does a proxy in front need a header (GATEWAY_HEADERS)?`;
    return { text, setting: 'CHECK_TOKEN' };
  }
  if (status === 429) {
    const seconds = retryAfterSeconds(answer);
    const when = seconds === null ? 'later' : `in ${seconds} s, as Retry-After says`;
    return { text: `Status 429: too many calls for now; check again ${when}.` };
  }
  if (status >= 500 || status === 408) {
    return { text: `Status ${status}: the gateway, or a proxy in front of it, fails.` };
  }
  const json = jsonOf(answer);
  if (json === undefined && isHtml(answer)) {
    const text = `Status ${status} for ${sent} is an HTML page, not JSON: this is not the gateway's base address, or a proxy answers in its place.`;
    return { text, setting: 'GATEWAY_URL' };
  }
  if (status === 404 || status === 405) {
    const text = `Status ${status}: the gateway has no ${sent}. Is the base address right, and is the path right?`;
    return { text, setting: 'GATEWAY_URL' };
  }
  if (status >= 400) return { text: `The interface has no status ${status} for ${sent}.` };
  if (json === undefined) return { text: notJsonText(answer) };
  return { text: `The answer cannot be used (GATEWAY_CONTRACT): ${reasonOf(error)}.` };
}

const START_BYTES = 200;

function isHtml({ headers, bytes }: Answer): boolean {
  const start = bytes.toString('utf8', 0, START_BYTES).trimStart().toLowerCase();
  return /html/i.test(headers['content-type'] ?? '') || /^<(!doctype html|html)/.test(start);
}

function notJsonText({ headers, bytes }: Answer): string {
  if (bytes.length === 0) return 'The answer is empty; JSON is expected.';
  const type = headers['content-type']?.split(';', 1)[0];
  try {
    JSON.parse(bytes.toString('utf8'));
    return `The answer is JSON, but its Content-Type is ${type}, so the service does not read it.`;
  } catch {
    return 'The answer is not valid JSON.';
  }
}

function noAnswer({ reason, cause }: NoAnswer, deadlineMs: number): Fault {
  switch (reason) {
    case 'timeout': {
      const text = `No complete answer arrived within ${Math.round(deadlineMs)} ms.`;
      return { text, setting: 'GATEWAY_TIMEOUT_MS' };
    }
    case 'oversize':
      return { text: 'The answer is larger than the limit.', setting: 'GATEWAY_MAX_BYTES' };
    case 'encoding':
      return { text: 'The content encoding of the answer was not requested, or is damaged.' };
    case 'cached':
      return {
        text: 'A cache answered (Age), possibly with the answer to another user: exclude this call from the cache.',
      };
    case 'protocol': {
      const text = 'The answer is not HTTP: is the port right, and is it http or https?';
      return { text, setting: 'GATEWAY_URL' };
    }
    case 'connection':
    case 'aborted':
      return {
        text: `The connection broke before the answer was complete (${codeOf(cause) ?? 'no code'}).`,
      };
  }
}

/** The causes of failed connections by their codes, and the setting to correct; GATEWAY_URL by default. */
const CONNECT_FAILURES: readonly (readonly [RegExp, string, Finding['setting']?])[] = [
  [/^(ENOTFOUND|EAI_\w+)$/, 'the name of the host has no address'],
  [/^ECONNREFUSED$/, 'nothing listens at this host and port'],
  [
    /^(UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)$/,
    'the host does not answer: is it the right one, and does a firewall let this machine through?',
  ],
  [
    /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST/,
    'the port does not speak TLS; is http meant in place of https?',
  ],
  [
    /ALTNAME_INVALID|EXPIRED|NOT_YET_VALID/,
    'its certificate is for another host, or is not valid now',
  ],
  [
    /SELF_SIGNED|UNABLE_TO|CERT_UNTRUSTED|ISSUER/,
    'its certificate is signed by an authority that this machine does not know; name the file of that authority’s certificate',
    'NODE_EXTRA_CA_CERTS',
  ],
  [
    /^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/,
    'the connection was closed at once: is it http or https?',
  ],
];

function notSent(cause: unknown): Fault {
  const code = codeOf(cause) ?? 'no code';
  const [, why, setting = 'GATEWAY_URL' as const] =
    CONNECT_FAILURES.find(([pattern]) => pattern.test(code)) ?? [];
  const isLate = cause instanceof DeadlineError;
  const reason = why ?? (isLate ? 'no connection within the deadline' : 'see the code');
  return { text: `The gateway cannot be reached: ${reason} (${code}).`, setting };
}
