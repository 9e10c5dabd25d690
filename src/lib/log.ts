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

export interface LogOptions {
  readonly level: pino.LevelWithSilent;
  readonly format: LogFormat;
  /** Takes one line or several at a time. */
  readonly destination: { write(lines: string): void };
}

/** `json`: one object per line, for machines. `compact`: one short line, for a console. */
type LogFormat = 'json' | 'compact';

/** A log that redacts secrets at any depth, also in child loggers, so that callers need not. */
export function createLog({ level, format, destination }: LogOptions): Log {
  const write = (json: string) => destination.write(inFormat(format, json));
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
    { write },
  );
  const { child } = log;
  const isLogged = log.isLevelEnabled('info');
  // Bindings are serialized once, without the hook; child loggers inherit this function from their parent.
  return Object.assign(log, {
    child(this: pino.Logger, bindings: Record<string, unknown>): Log {
      return Reflect.apply(child, this, [redactRecord(bindings)]) as pino.Logger & Log;
    },
    line(members: object, message: string): void {
      if (isLogged) write(jsonLine('info', members, message));
    },
  });
}

/** The standard output, for a log of this format. */
export function openLogOutput(format: LogFormat): LogOutput {
  return standardOutput((count) =>
    inFormat(format, jsonLine('warn', { count }, 'lines of the log were dropped')),
  );
}

function jsonLine(level: Level, members: object, msg: string): string {
  const json = JSON.stringify(members).slice(1, -1);
  return `{"level":"${level}","time":"${momentText(Date.now())}",${json},"msg":"${msg}"}\n`;
}

function inFormat(format: LogFormat, json: string): string {
  return format === 'json' ? json : compactLine(json);
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

/** Shortens a line of the JSON log for the console: `08:14:02 warn  message name=value`. */
function compactLine(json: string): string {
  const { time, level, msg, err, ...rest } = JSON.parse(json) as Record<string, unknown>;
  const clock = typeof time === 'string' ? time.slice(11, 19) : '';
  const words = [clock, String(level).padEnd(5), ...(msg === undefined ? [] : [String(msg)])];
  for (const [name, value] of Object.entries(rest)) {
    words.push(
      `${name}=${typeof value === 'string' && /^\S+$/.test(value) ? value : JSON.stringify(value)}`,
    );
  }
  return `${words.join(' ')}${stackOf(err)}\n`;
}

/** An error's stack and the stacks of its causes, which hold the reason of a failed call. */
function stackOf(error: unknown, name = ''): string {
  if (!(error instanceof Object)) return error == null ? '' : `\n${name}${error}`;
  const { stack, message, cause } = error as Error;
  return `\n${name}${stack ?? message}${stackOf(cause, 'Caused by: ')}`;
}
