import { redact, redactTokens } from './redact.ts';

const REDACTED = '[struck out]';
const DEEPEST = 8;
// A socket or a request that slipped into a record must not stall the process.
const MOST_VALUES = 2_000;

const SECRET_NAME =
  /(authorization|cookies?|e?mail|passkey|password|phone|phonenumber|secret|token|tokens|apikey)$/;
const SECRET_NAMES = new Set(['address', 'walletaddress', 'gatewayheaders', 'mobile', 'redisurl']);

/** Copies a record for the log, with secrets redacted by the names of properties and by patterns. */
export function redactRecord(record: object): Record<string, unknown> {
  return new Redaction().record(record);
}

class Redaction {
  readonly #under = new Set<object>();
  #values = 0;

  record(record: object, isFromError = false): Record<string, unknown> {
    const entries: [string, unknown][] = [];
    for (const [name, value] of Object.entries(record)) {
      const isKept = value === null || value === undefined || !isSecret(name);
      entries.push([name, isKept ? this.#value(value, isFromError) : REDACTED]);
    }
    return Object.fromEntries(entries);
  }

  #value(value: unknown, isFromError: boolean): unknown {
    this.#values += 1;
    if (typeof value === 'string') return isFromError ? redact(value) : redactTokens(value);
    if (typeof value === 'bigint') return String(value);
    if (typeof value !== 'object' || value === null || value instanceof Date) return value;
    if (this.#under.has(value)) return '[circular]';
    if (this.#values > MOST_VALUES || this.#under.size >= DEEPEST) return '[left out]';
    this.#under.add(value);
    try {
      return this.#object(value, isFromError);
    } finally {
      this.#under.delete(value);
    }
  }

  #object(value: object, isFromError: boolean): unknown {
    if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
    // URLs contain passwords before the host and may contain secrets after the path.
    if (value instanceof URL) return `${value.origin}${value.pathname}`;
    if (Array.isArray(value)) return value.map((item) => this.#value(item, isFromError));
    if (value instanceof Error) return this.#error(value);
    if (value instanceof Map || value instanceof Headers) {
      return this.record(Object.fromEntries(value), isFromError);
    }
    if (value instanceof Set) return [...value].map((item) => this.#value(item, isFromError));
    return this.record(value, isFromError);
  }

  /** Messages may quote the gateway, a parser or a user. */
  #error(error: Error): Record<string, unknown> {
    return {
      type: error.name,
      message: redact(error.message),
      ...this.record(error, true),
      ...(error.cause !== undefined && { cause: this.#value(error.cause, true) }),
      ...(error instanceof AggregateError && { errors: this.#value(error.errors, true) }),
      ...(error.stack !== undefined && { stack: redact(error.stack) }),
    };
  }
}

function isSecret(name: string): boolean {
  const plain = name.toLowerCase().replaceAll(/[-_]/g, '');
  return SECRET_NAMES.has(plain) || SECRET_NAME.test(plain);
}
