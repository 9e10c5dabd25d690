import pino from 'pino';
import { momentText } from './moment-text.ts';
import { REDACTED, redact, redactTokens } from './redact.ts';

type Level = 'debug' | 'info' | 'warn' | 'error' | 'fatal';

export interface Log extends Readonly<Record<Level, (fields: object, message: string) => void>> {
  isLevelEnabled(level: Level): boolean;
  /**
   * Logs at level `info`, which the caller has found enabled. Nothing is redacted, because redaction takes longer than the
   * rest of a request's line. So the fields must not contain a secret.
   */
  line(fields: object, message: string): void;
}

interface LogOptions {
  readonly level: pino.LevelWithSilent;
  /** Takes one line or several at a time. */
  readonly destination: { write(lines: string): void };
}

/** A log of one JSON object per line. It redacts secrets at any depth, so that callers need not. */
export function createLog({ level, destination }: LogOptions): Log {
  const log = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      // The hook below has already turned errors into plain records.
      serializers: { err: (error: unknown) => error },
      hooks: {
        // Runs only for enabled levels.
        logMethod(args, method) {
          const [fields, message] = args as unknown as [fields: object, message: string];
          method.call(this, redactRecord(fields), redactTokens(message));
        },
      },
    },
    destination,
  );
  return Object.assign(log, {
    line(fields: object, message: string): void {
      const json = JSON.stringify(fields).slice(1, -1);
      const time = momentText(Date.now());
      destination.write(`{"level":"info","time":"${time}",${json},"msg":"${message}"}\n`);
    },
  });
}

const MAX_DEPTH = 8;
// A socket or a request in a record must not stall the process.
const MAX_VALUES = 2_000;

const SECRET_NAME =
  /(authorization|cookies?|e?mail|passkey|password|phone|phonenumber|secret|token|tokens|apikey)$/;
const SECRET_NAMES = new Set(['address', 'walletaddress', 'gatewayheaders', 'mobile', 'redisurl']);

/** Copies a record for the log, with secrets redacted by the names of properties and by patterns. */
export function redactRecord(record: object): Record<string, unknown> {
  const ancestors = new Set<object>();
  let values = 0;

  function redacted(source: object, isFromError = false): Record<string, unknown> {
    const entries = Object.entries(source).map(([name, value]) => {
      const isMissing = value === null || value === undefined;
      const isRedacted = !isMissing && isSecret(name);
      return [name, isRedacted ? REDACTED : redactedValue(value, isFromError)];
    });
    return Object.fromEntries(entries);
  }

  function redactedValue(value: unknown, isFromError: boolean): unknown {
    values += 1;
    if (typeof value === 'string') return isFromError ? redact(value) : redactTokens(value);
    if (typeof value === 'bigint') return String(value);
    if (typeof value !== 'object' || value === null) return value;
    if (ancestors.has(value)) return '[circular]';
    if (values > MAX_VALUES || ancestors.size >= MAX_DEPTH) return '[left out]';
    ancestors.add(value);
    try {
      return redactedObject(value, isFromError);
    } catch {
      // A getter, a proxy or a library's message threw.
      return '[unreadable]';
    } finally {
      ancestors.delete(value);
    }
  }

  function redactedObject(value: object, isFromError: boolean): unknown {
    if (value instanceof Date) return value;
    if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
    // A URL can contain a password before its host, and secrets after its path.
    if (value instanceof URL) return `${value.origin}${value.pathname}`;
    if (Array.isArray(value)) return value.map((item) => redactedValue(item, isFromError));
    if (value instanceof Error) return redactedError(value);
    return redacted(value, isFromError);
  }

  /** An error's texts may quote the gateway, a parser or a user. */
  function redactedError(error: Error): Record<string, unknown> {
    return {
      type: error.name,
      message: redact(error.message),
      ...redacted(error, true),
      ...(error.cause !== undefined && { cause: redactedValue(error.cause, true) }),
      ...(error instanceof AggregateError && { errors: redactedValue(error.errors, true) }),
      ...(error.stack !== undefined && { stack: redact(error.stack) }),
    };
  }

  return redacted(record);
}

function isSecret(name: string): boolean {
  const plain = name.toLowerCase().replaceAll(/[-_]/g, '');
  return SECRET_NAMES.has(plain) || SECRET_NAME.test(plain);
}
