import pino from 'pino';
import { type LogOutput, standardOutput } from './log-output.ts';
import { momentText } from './moment-text.ts';
import { redactRecord } from './redact-record.ts';

type Level = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal';

export interface Log extends Pick<pino.Logger, Level | 'isLevelEnabled'> {
  child(bindings: Record<string, unknown>): Log;
  /**
   * Logs at level `info` without redaction, which takes longer than the rest of a request's line. No member may hold a
   * secret.
   */
  line(members: object, message: string): void;
}

interface LogOptions {
  readonly level: pino.LevelWithSilent;
  /** Takes one line or several at a time. */
  readonly destination: { write(lines: string): void };
}

/** A log of one JSON object per line. It redacts secrets at any depth, also in child loggers, so that callers need not. */
export function createLog({ level, destination }: LogOptions): Log {
  const log = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
      },
      // The hook below has already turned errors into plain records.
      serializers: { err: (error: unknown) => error },
      hooks: {
        // Runs only for enabled levels, and also receives the arguments of a format string.
        logMethod(args, method) {
          Reflect.apply(method, this, redactArguments(args));
        },
      },
    },
    destination,
  );
  const { child } = log;
  const isLogged = log.isLevelEnabled('info');
  // Bindings are serialized once, without the hook; child loggers inherit this function from their parent.
  return Object.assign(log, {
    child(this: pino.Logger, bindings: Record<string, unknown>): Log {
      return Reflect.apply(child, this, [redactRecord(bindings)]) as pino.Logger & Log;
    },
    line(members: object, message: string): void {
      if (isLogged) destination.write(jsonLine('info', members, message));
    },
  });
}

/** Opens the standard output for a log. */
export function openLogOutput(): LogOutput {
  return standardOutput((count) => jsonLine('warn', { count }, 'lines of the log were dropped'));
}

function jsonLine(level: Level, members: object, msg: string): string {
  const json = JSON.stringify(members).slice(1, -1);
  return `{"level":"${level}","time":"${momentText(Date.now())}",${json},"msg":"${msg}"}\n`;
}

function redactArguments([first, ...rest]: readonly unknown[]): unknown[] {
  const others = rest.map(redactArgument);
  if (!(first instanceof Error)) return [redactArgument(first), ...others];
  const { err } = redactRecord({ err: first }) as { err: { message: string } };
  return [{ err }, ...(others.length > 0 ? others : [err.message])];
}

function redactArgument(argument: unknown): unknown {
  return redactRecord({ argument }).argument;
}
