import { jsonOf } from '../../gateway/answer-body.ts';
import { DeadlineError, UnsafePathError } from '../../gateway/errors.ts';
import type { Answer, Exchange, NoAnswer } from '../../gateway/exchange.ts';
import { retryAfterSeconds } from '../../gateway/judge.ts';
import { firstCallOf } from '../../gateway/operation.ts';
import { OPERATIONS } from '../../gateway/operations.ts';
import type { Finding } from './finding.ts';
import type { ProbeAnswer, ProbeName } from './probe.ts';

/**
 * The meaning of an exchange before its JSON is looked at:
 * - `answered`: a 2xx (or 304) with JSON;
 * - `refused`: 401 or 403, in whatever shape;
 * - `elsewhere`: something other than the gateway answers, or the gateway is not at this address;
 * - `unreachable`: there is no answer at all;
 * - `failing`: the gateway is there and fails.
 */
export type Diagnosis =
  | { readonly kind: 'answered'; readonly answer: Answer; readonly json: unknown }
  | { readonly kind: 'refused'; readonly status: 401 | 403 }
  | Fault;

export interface Fault {
  readonly kind: 'elsewhere' | 'unreachable' | 'failing';
  readonly finding: Finding;
}

export function diagnose(operation: ProbeName, { exchange, deadlineMs }: ProbeAnswer): Diagnosis {
  if (!exchange.sent) return unreachable(operation, exchange.cause);
  if (!exchange.answered) return noAnswer(operation, exchange, deadlineMs);
  return ofAnswer(operation, exchange);
}

function fault(operation: ProbeName) {
  return (kind: Fault['kind'], text: string, setting?: Finding['setting']): Fault => ({
    kind,
    finding: { level: 'problem', text, operation, ...(setting && { setting }) },
  });
}

/** A fault that may pass by itself. */
function passing({ kind, finding }: Fault): Fault {
  return { kind, finding: { ...finding, mayPass: true } };
}

/** True where a whole answer came, whatever it says. */
export function statusOf(exchange: Exchange): number | null {
  return exchange.sent && exchange.answered ? exchange.status : null;
}

function ofAnswer(operation: ProbeName, answer: Answer): Diagnosis {
  const { status } = answer;
  const found = fault(operation);
  if (status >= 300 && status <= 399 && status !== 304) {
    return found('elsewhere', redirectText(operation, answer), 'GATEWAY_URL');
  }
  if (/^\s*basic\b/i.test(answer.headers['www-authenticate'] ?? '')) {
    const text = `Status ${status} asks for a user and a password of its own (Basic): something in front of the gateway wants a fixed header.`;
    return found('elsewhere', text, 'GATEWAY_HEADERS');
  }
  if (status === 401 || status === 403) return { kind: 'refused', status };
  if (status === 429) {
    const seconds = retryAfterSeconds(answer);
    const when = seconds === null ? 'later' : `in ${seconds} s, as Retry-After says`;
    return passing(found('failing', `Status 429: too many calls for now; check again ${when}.`));
  }
  if (status >= 500 || status === 408) {
    const text = `Status ${status}: the gateway, or what is in front of it, fails.`;
    return passing(found('failing', text));
  }
  const json = jsonOf(answer);
  if (json === undefined && isHtml(answer)) {
    const text = `Status ${status} is a page of HTML, no JSON: this is not the gateway's base address, or a proxy answers in its place.`;
    return found('elsewhere', text, 'GATEWAY_URL');
  }
  if (status === 404 || status === 405) {
    const text = `Status ${status}: the gateway has no ${verbAndPath(operation)} under this base address; is a part of the path missing or too much?`;
    return found('elsewhere', text, 'GATEWAY_URL');
  }
  if (status >= 400) {
    return found('failing', `Status ${status} is none that the interface has for this operation.`);
  }
  if (status !== 304 && json === undefined) return found('failing', notJsonText(answer));
  return { kind: 'answered', answer, json };
}

export function verbAndPath(operation: ProbeName): string {
  const { method, path } = firstCallOf(OPERATIONS[operation]);
  return `${method} ${path}`;
}

function isHtml({ headers, bytes }: Answer): boolean {
  const start = bytes.toString('utf8', 0, 200).trimStart().toLowerCase();
  return /html/i.test(headers['content-type'] ?? '') || /^<(!doctype html|html)/.test(start);
}

function notJsonText({ headers, bytes }: Answer): string {
  if (bytes.length === 0) return 'The answer is empty, where JSON is expected.';
  const type = headers['content-type']?.split(';', 1)[0];
  try {
    JSON.parse(bytes.toString('utf8'));
    return `The answer is JSON, but its Content-Type says ${type}: the service does not read it.`;
  } catch {
    return 'The answer is no JSON that can be read.';
  }
}

/** The address is named as far as it is a base address, and nothing of what follows it. */
function redirectText(operation: ProbeName, { status, headers }: Answer): string {
  const start = `Status ${status} is a redirect, which is never followed`;
  const target = URL.parse(headers.location ?? '');
  const { path } = firstCallOf(OPERATIONS[operation]);
  if (target === null || !/^https?:$/.test(target.protocol)) {
    return `${start}: give the address that it leads to.`;
  }
  const base = target.pathname.endsWith(path)
    ? target.origin + target.pathname.slice(0, -path.length)
    : null;
  return base === null
    ? `${start}; it leads to ${target.origin}.`
    : `${start}; it leads to ${base}, which may be the base address.`;
}

function noAnswer(operation: ProbeName, { reason, cause }: NoAnswer, deadlineMs: number): Fault {
  const found = fault(operation);
  let text: string;
  switch (reason) {
    case 'timeout':
      text = `No whole answer came within ${deadlineMs} ms.`;
      return passing(found('failing', text, 'GATEWAY_TIMEOUT_MS'));
    case 'oversize':
      text = 'The answer is larger than is accepted.';
      return found('failing', text, 'GATEWAY_MAX_BYTES');
    case 'encoding':
      text = 'The answer is packed in a way that it was not asked for, or is damaged.';
      return found('failing', text);
    case 'cached':
      text =
        'A cache answered (Age), which may have it from another user: exclude this call from it.';
      return found('failing', text);
    case 'protocol':
      text = 'What answers does not speak HTTP: is the port right, and is it http or https?';
      return found('unreachable', text, 'GATEWAY_URL');
    case 'connection':
    case 'aborted':
      text = `The connection broke before the answer was whole${codeIn(cause)}.`;
      return passing(found('failing', text));
  }
}

/** The causes of failed connections by their codes; the setting to correct is `GATEWAY_URL` where none is named. */
const CONNECT_FAILURES: readonly (readonly [RegExp, string, Finding['setting']?])[] = [
  [/^(ENOTFOUND|EAI_AGAIN|EAI_NODATA|EAI_FAIL)$/, 'the name of the host has no address'],
  [/^ECONNREFUSED$/, 'nothing listens at this host and port'],
  [/^(EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|EACCES|EPERM)$/, 'no way leads to this host'],
  [
    /^(UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT)$/,
    'the host does not answer: is it the right one, and does a firewall let this machine through?',
  ],
  [
    /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST/,
    'TLS: what listens there does not speak it; is http meant in place of https?',
  ],
  [/ALTNAME_INVALID/, 'TLS: the certificate is of another host'],
  [
    /EXPIRED|NOT_YET_VALID/,
    'TLS: the certificate is not valid at this time; it must be renewed at the gateway',
  ],
  [
    /SELF_SIGNED|UNABLE_TO|CERT_UNTRUSTED|ISSUER/,
    'TLS: the certificate is of an authority that this machine does not know; name the file of its certificate',
    'NODE_EXTRA_CA_CERTS',
  ],
  [/^(ERR_SSL|ERR_TLS|EPROTO|CERT_)/, 'TLS: the connection cannot be made safe'],
  [
    /^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/,
    'the connection was closed at once: is it http or https?',
  ],
];

/** A name or certificate that is wrong stays so; what does not listen may be starting. */
const MAY_PASS =
  /^(ECONNREFUSED|ECONNRESET|EPIPE|EAI_AGAIN|ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT|UND_ERR_SOCKET)$/;

function unreachable(operation: ProbeName, cause: unknown): Fault {
  const found = fault(operation)('unreachable', ...notSent(cause));
  const isPassing = cause instanceof DeadlineError || MAY_PASS.test(deepestCode(cause));
  return isPassing ? passing(found) : found;
}

function notSent(cause: unknown): [text: string, setting?: Finding['setting']] {
  if (cause instanceof UnsafePathError) {
    return [`The ${cause.parameter} cannot be a part of a path: the service never sends it.`];
  }
  const code = deepestCode(cause);
  const known = CONNECT_FAILURES.find(([pattern]) => pattern.test(code));
  if (known) {
    const [, text, setting = 'GATEWAY_URL'] = known;
    return [`The gateway cannot be reached: ${text} (${code}).`, setting];
  }
  const isLate = cause instanceof DeadlineError;
  const why = isLate ? 'no connection within the deadline' : code || 'no reason given';
  return [`The gateway cannot be reached: ${why}.`, 'GATEWAY_URL'];
}

function codeIn(cause: unknown): string {
  const code = deepestCode(cause);
  return code === '' ? '' : ` (${code})`;
}

/** The code of the error, or of the one behind it: several addresses of a host fail as one. */
function deepestCode(cause: unknown): string {
  if (!(cause instanceof Error)) return '';
  const inner = cause instanceof AggregateError ? cause.errors[0] : cause.cause;
  const { code } = cause as NodeJS.ErrnoException;
  return deepestCode(inner) || (typeof code === 'string' ? code : '');
}
