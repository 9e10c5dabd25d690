import type { CallOutcome } from './caller.ts';
import type { Exchange } from './exchange.ts';

/** Why a connection was not made, or broke, by the code of its error: a label, so the set is fixed. */
export const CONNECTION_FAULTS = [
  'ENOTFOUND',
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_SOCKET',
  'EMFILE',
  'ENFILE',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'ERR_SSL',
  'other',
] as const;

export type ConnectionFault = (typeof CONNECTION_FAULTS)[number];

const KNOWN: ReadonlySet<string> = new Set(CONNECTION_FAULTS);
// OpenSSL's own complaints, such as ERR_SSL_WRONG_VERSION_NUMBER of a server without TLS, are hundreds.
const OF_OPENSSL = /^(?:ERR_SSL_|EPROTO$)/;
/** Errors have a cause or two, and nobody promises that these form no circle. */
const DEEPEST = 4;

/** Null where the call's connection was not lost. */
export function connectionFault(outcome: CallOutcome, exchange: Exchange): ConnectionFault | null {
  if (outcome !== 'connect' && outcome !== 'reset') return null;
  return exchange.sent && exchange.answered ? 'other' : faultOf(exchange.cause);
}

function faultOf(cause: unknown): ConnectionFault {
  let error = cause;
  for (let depth = 0; depth < DEEPEST && error instanceof Error; depth += 1) {
    const { code } = error as NodeJS.ErrnoException;
    if (typeof code === 'string') {
      if (KNOWN.has(code)) return code as ConnectionFault;
      if (OF_OPENSSL.test(code)) return 'ERR_SSL';
    }
    error = error.cause;
  }
  return 'other';
}
