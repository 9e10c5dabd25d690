import pino from 'pino';
import { momentText } from './moment-text.ts';
import { redactTokens } from './redact.ts';
import { redactRecord } from './redact-record.ts';

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
